// Fits the coefficients of the library's costs to times. The costs stand in Lay alone
// (stdlib/policies); here they are expressions over the coefficients, which are evaluated and never
// written down a second time: another text of the same formula would drift from the one by which
// launches choose.
//
//   const CostFit fit = fit_costs(costed_problems(...), target.costs);
//   fit.coefficients, judged(problems, fit.coefficients).median_loss
#pragma once

#include <cstddef>
#include <vector>

#include "frontend/sema/coefficients.h"
#include "runtime/bench/calibrate/timed_schedules.h"

namespace lay::bench {

// How well costs agree with times. A loss is what the schedule of least cost takes of the time of
// the fastest one that was timed on the problem, 1 where it is the same.
struct CostQuality {
  std::size_t problems = 0, schedules = 0;
  // The root of the mean square of log(time / predicted time), where clocks become seconds by one
  // factor for each kind of core, the one that agrees best.
  double log_rms = 0;
  double mean_loss = 1, median_loss = 1, tenth_loss = 1;  // one in ten problems loses more
  // Kendall's tau within problems: over the pairs whose times differ by more than 5 %.
  double tau = 0;
  // Clocks of an SM a second, by which costs become times; 0 where no schedule was timed.
  double tensor_hertz = 0, thread_hertz = 0;
};

// Judges the problems on which two schedules were timed, at least.
CostQuality judged(const std::vector<CostedProblem>& problems,
                   const sema::Coefficients& coefficients);

struct CostFit {
  sema::Coefficients coefficients;
  // Of each: some cost depends on it; others keep their numbers.
  std::vector<bool> fitted;
};

// Returns coefficients whose costs are nearer to the times than those of `from`: they are within a
// factor of three of those, and the fewer times there are, the nearer they stay. Without times
// they are those of `from`.
CostFit fit_costs(const std::vector<CostedProblem>& problems, const sema::Coefficients& from);

}  // namespace lay::bench
