// How candidates are timed: in one process, on the same operands, interleaved.
//
//   graph     Launches run inside a CUDA graph, on one set of operands after another. The sets are
//             together larger than L2, so that neither the host nor a warm L2 counts.
//   single    One launch between two events, with the host's part.
//   warm-up   Rounds run until times agree with those of some work before: of one second, or of 20
//             turns where these are short. A device takes seconds to reach its power limit.
//   order     In each round another candidate comes first. Two rounds go in one order, the next two
//             in the opposite one.
//   clocks    At its power limit a device's clock depends on what ran before. So each candidate
//             runs untimed for as long as it is timed, directly before.
//   remote    A candidate of another process takes its turn there, on operands and in graphs of its
//             own, while we launch nothing.
//
// A candidate's result is the median of the rounds and their spread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/bench/nvml.h"
#include "runtime/gpu/driver.h"

namespace lay::bench {

// Launches a candidate in another process.
class RemoteLauncher {
 public:
  virtual ~RemoteLauncher() = default;
  // Launches all graphs as often as `untimed` says, and again as often as `replays` says. Returns
  // milliseconds a launch of the latter.
  virtual double time_graphs(int untimed, int replays) = 0;
  // Launches `count` times, on one set of operands after another. Returns milliseconds each.
  virtual std::vector<double> time_singles(int first_set, int count) = 0;
  // Returns why the times are none; empty if they are.
  virtual const std::string& failure() const = 0;
};

// A kernel to time, ours or a baseline.
struct Candidate {
  std::string name;
  // Enqueues one launch on the operands of a set. Throws if it cannot. It is also called while the
  // stream records a graph.
  std::function<void(int set, runtime::StreamHandle)> launch;
  // Takes the place of `launch` for a candidate of another process.
  std::shared_ptr<RemoteLauncher> remote = nullptr;
};

// How long and how often each side is timed.
struct Protocol {
  int rounds = 5;
  // Sets of operands.
  int sets = 2;
  // Launches in one graph.
  int launches = 20;
  // Single launches a candidate in one round.
  int singles = 20;
  // About how long a candidate is timed in one round.
  double milliseconds = 100;
  // The limit on warm-up rounds.
  int most_warm_ups = 100;
};

// Returns how many sets of operands of `bytes` are together at least twice the cache: at least 2,
// at most 200.
int sets_beyond_cache(std::size_t bytes, std::int64_t cache_bytes);

// The times of one side, by round.
struct Timing {
  // Milliseconds a launch, one entry a round. An entry of `single` is the median of that round.
  std::vector<double> graph, single;
  // The readings of the sensors, while the graphs ran.
  std::vector<Reading> readings;
  // Rounds before the first one that counts.
  int warm_ups = 0;
  // The last warm-up round was within 2 % of an earlier one.
  bool settled = true;

  double median() const;
  double single_median() const;
  // Returns (largest - smallest) / median of the graphs' rounds.
  double spread() const;
  std::optional<Reading> median_reading() const;
  // Returns the energy of a launch: the mean power times the median time. Nothing where no reading
  // has a mean power.
  std::optional<double> joules() const;
};

// Returns the median; 0 for no values.
double median_of(std::vector<double> values);

// Times the candidates and returns one Timing each, in their order. Throws what a launch throws,
// and DriverError.
std::vector<Timing> measure(const std::vector<Candidate>& candidates, const Protocol& protocol,
                            const Nvml* sensors = nullptr);

}  // namespace lay::bench
