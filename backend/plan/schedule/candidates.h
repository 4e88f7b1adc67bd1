// Schedules worth trying for a kernel at given sizes: the rows of the library's policies and of its
// spaces of tiles (stdlib/policies), by what a launch of the sizes costs with them.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::plan {

struct Candidate {
  sema::Schedule schedule;
  Plan plan;                // of the kernel with this one schedule
  std::size_t variant = 0;  // of the plan: the one that takes the sizes
  double seconds = 0;       // that a launch is expected to take (expected_seconds)

  const Variant& chosen() const { return plan.variants[variant]; }
};

// Returns at most `most` of them, fastest first, all of the first family of schedules that has any
// which keeps the planner's laws; rows without a cost come by their forecasts. None where the
// kernel is no GEMM. The kernel's own schedules are not looked at.
std::vector<Candidate> ranked_candidates(const sema::KernelPtr& kernel, const Binding& sizes,
                                         std::size_t most, const Target& target = default_target());

// Returns the candidate of one schedule; nothing where the laws refuse it, or it does not take the
// sizes. It is expected to take what its variant is.
std::optional<Candidate> candidate_of(const sema::KernelPtr& kernel, const sema::Schedule& schedule,
                                      const Binding& sizes,
                                      const Target& target = default_target());

// The candidate with its tiles visited in groups of other numbers of rows, which costs do not tell
// apart; those that the laws allow.
std::vector<Candidate> reordered(const sema::KernelPtr& kernel, const Candidate& candidate,
                                 const Binding& sizes, const Target& target = default_target());

// The entries of a schedule as Lay, a line each: "tile = (128,256,8)".
std::vector<std::string> entry_lines(const sema::Schedule& schedule);
// The statements that load the instructions which they name: "use atoms.sm90".
std::set<std::string> libraries_of(const sema::Schedule& schedule);

}  // namespace lay::plan
