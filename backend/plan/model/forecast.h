// The cost of a variant at given sizes: tiles and waves, bytes, the least time that it needs if the
// target's record gives the most that the machine does, and the time that it is expected to take.
//
//   tiles        of the output, those with products, and how many the machine works on at once
//   L2           what blocks load and store; what one block of a cluster loads for all counts once
//   global       what L2 does not have. Tiles are taken in the plan's order, as many at a
//                time as the machine holds; those go through K side by side, so that each row or
//                column of tiles they share comes from memory once. L2 is modelled as an LRU cache.
//   products     of the SM with the most tiles, at the machine's rate
//
// The bound of a launch is the longest of these and the launch's own time. It knows no latencies,
// no limit of power and no bank conflicts, and the arithmetic of epilogues is free: measured times
// are longer. What a launch is expected to take knows more, by terms of the target's record:
//
//   streamed     memory at the rate that copies reach, not the data sheet's
//   sustained    products at the limit of power, where clocks fall
//   issued       accesses of one element each, which take instructions for few bytes
//   staged       K tiles of mma.sync: their way through shared memory, and narrow elements widened
//   exposed      what overlaps with nothing: tiles of chained products that begin and end,
//                single elements that are stored behind a product
//
// The longest of the first four counts. Where the library has a cost for a product's schedule,
// which knows of latencies and of `staged`, a launch is expected to take what that says, unless one
// of the others is longer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::plan {

struct Forecast {
  std::string launch_name;        // the variant's, or that of the launch before it
  std::int64_t tiles = 0;         // of the output, or of all outputs together
  std::int64_t live = 0;          // those in which a mask leaves products; all where there is none
  std::int64_t at_once = 0;       // that the machine works on
  std::int64_t most = 0;          // live tiles of the SM that has most of them
  double cache_bytes = 0;         // through L2
  double global_bytes = 0;        // to and from global memory, in the plan's order
  double least_global_bytes = 0;  // everything once
  double multiply_adds = 0;       // of live tiles, as far as they lie in the output
  // Seconds at least.
  double products = 0, cache = 0, memory = 0, launch = 0;
  // Seconds as far as launches are known to take longer than at least.
  double streamed = 0, sustained = 0, issued = 0, staged = 0, exposed = 0;
  // Seconds by the cost of the library's schedule, at the highest clock; nothing without one.
  std::optional<double> cost = {};
  // The part of the busiest SM's tiles in which a mask leaves products: costs know no masks.
  double live_share = 1;

  double waves() const { return static_cast<double>(live) / static_cast<double>(at_once); }
  double seconds() const;
  // Returns the seconds that the launch is expected to take: no less than `seconds`.
  double expected() const;
  // Which of them is the bound: "products", "L2", "global memory", "the
  // launch".
  std::string_view bottleneck() const;
};

// Returns the forecast of each launch, in order. Nothing where a number has no value at these
// sizes, or there are more than 2^20 tiles.
std::optional<std::vector<Forecast>> forecast(const Plan& plan, const Variant& variant,
                                              const Binding& sizes, const Target& target);

// Returns the seconds of a cost of the library's, which counts hundredths of a clock.
double seconds_of_cost(std::int64_t cost, const Target& target);

// Returns the seconds that all launches of a variant are expected to take, one after the other.
// Infinite where there is no forecast.
// `cost`: of the last launch, in place of the variant's own.
double expected_seconds(const Plan& plan, const Variant& variant, const Binding& sizes,
                        const Target& target, std::optional<std::int64_t> cost = {});

}  // namespace lay::plan
