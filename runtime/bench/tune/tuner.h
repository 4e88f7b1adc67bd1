// Finds the fastest schedule of a GEMM kernel by timing: what `lay tune` and the library's
// lay_kernel_tune do for one kernel.
//
//   KernelTuner tuner(sources, kernel, gpu->target(), gpu.get(), {}, print_line);
//   const Tuning tuning = tuner.tune({{"M", 4096}, {"N", 4096}, {"K", 4096}});
//   if (tuning.finding) ... schedules_text({*tuning.finding}, "")
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/plan/plan.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/candidates.h"
#include "frontend/source/source.h"
#include "runtime/bench/problem/problem.h"
#include "runtime/bench/tune/finding.h"
#include "runtime/gpu/gpu.h"

namespace lay::bench {

// How long a search may take.
struct TuneEffort {
  // Schedules that are timed.
  int candidates = 8;
  int rounds = 5;
  // How long each schedule is timed in one round.
  double milliseconds = 50;
};

// A schedule as it was timed, in seconds a launch.
struct TimedRow {
  // "sm90:  tile = (128,256,64)  ..."; empty for the default, the plan without a schedule.
  std::string schedule;
  std::string variant;
  double seconds = 0;
  double predicted = 0;
  // (slowest - fastest) / median of the rounds.
  double spread = 0;
};

struct Tuning {
  // Why nothing was timed; empty where something was.
  std::string why;
  // Those that were timed last beside each other; the default first, if it could be timed.
  std::vector<TimedRow> timed;
  // The fastest, where it is worth saving: at least 1 % faster than the default.
  std::optional<Finding> finding;
};

class ScheduleTimer;

class KernelTuner {
 public:
  // Receives a line of text as soon as it is known.
  using Say = std::function<void(const std::string& line)>;

  // Schedules of the kernel's own do not count. Without a GPU schedules are ranked by the cost
  // model for the target alone. Sources and GPU outlive it. DiagnosticError where the kernel has no
  // plan.
  KernelTuner(const Sources& sources, const sema::KernelPtr& kernel, const Target& target,
              runtime::Gpu* gpu, const TuneEffort& effort, Say say);

  // Tunes for the class of these sizes; for these alone where the fastest is slower than the
  // default at the ends of the class, at which it is timed as well. Throws Refusal (problem_of),
  // NotMeasured, DriverError.
  Tuning tune(const std::map<std::string, std::int64_t>& sizes);

 private:
  using Ranked = std::vector<plan::Candidate>;

  void say_ranking(const Problem& problem, const Ranked& ranked) const;
  Tuning measure_best(const Problem& problem, const plan::GemmForm& form, const Ranked& ranked);
  std::optional<Finding> finding_of(const Problem& problem, const plan::GemmForm& form,
                                    const ScheduleTimer& timer) const;
  Reach reach_of(const Problem& problem, const plan::GemmForm& form,
                 const sema::Schedule& schedule) const;

  const Sources& sources_;
  const Target& target_;
  runtime::Gpu* gpu_;
  TuneEffort effort_;
  Say say_;
  plan::Plan plan_;
};

}  // namespace lay::bench
