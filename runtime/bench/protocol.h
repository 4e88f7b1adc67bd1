// How contestants are timed: in one process, on the same operands, taking turns.
//
// A launch is timed inside a graph of launches on one set of operands after another, together
// larger than L2, so that neither the host nor warm caches count; and, in a
// second column, alone between two events. The contestants warm up until their times are those of a
// second before, for a device comes to its limit of power in seconds; then in every round each is
// timed once, another one first in each round, two rounds in one order and two in the opposite one.
// At its limit of power a device slows down by what it did before, so a contestant runs untimed for
// as long first: then the clocks are those of its own work. What is told of a contestant is the
// median of the rounds and their spread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/bench/nvml.h"
#include "runtime/gpu/driver.h"

namespace lay::bench {

struct Contestant {
  std::string name;
  // Gives one launch on the operands of that set to the stream; throws where it cannot. Called
  // again while recorded.
  std::function<void(int set, runtime::StreamHandle)> launch;
};

struct Protocol {
  int rounds = 5;
  int sets = 2;               // of operands
  int launches = 20;          // of a graph
  int singles = 20;           // launches alone, a round
  double milliseconds = 100;  // about so long a contestant is timed in one round
  int most_warm_ups = 100;    // rounds that come before, at most
};

// Sets of operands of so many bytes that are together at least twice the cache; at least 2 and at
// most 200.
int sets_beyond_cache(std::size_t bytes, std::int64_t cache_bytes);

struct Timing {
  std::vector<double> graph,
      single;  // milliseconds a launch, one entry a round; single: the round's median
  std::vector<Reading> readings;  // of the sensors, while the graphs ran
  int warm_ups = 0;               // rounds before the first one counted
  bool settled = true;  // the last warm-up differed by less than 2 % from one a second before

  double median() const;
  double single_median() const;
  double spread() const;  // (largest - smallest) / median of the graphs' rounds
  std::optional<Reading> median_reading() const;
};

double median_of(std::vector<double> values);  // 0 for none

// One Timing a contestant, in their order. Throws what a launch throws, and DriverError.
std::vector<Timing> measure(const std::vector<Contestant>& contestants, const Protocol& protocol,
                            const Nvml* sensors = nullptr);

}  // namespace lay::bench
