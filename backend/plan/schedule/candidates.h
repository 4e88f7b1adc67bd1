// Schedules worth trying for a kernel at given sizes: each family of kernels proposes its own, in
// the words in which a script would say them; those that the laws allow are ranked by what the
// model says they take.
//
// A new family is one more row of `families`: it proposes, and the planner that reads its schedules
// judges them.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/plan/plan.h"
#include "backend/plan/recognise.h"
#include "backend/target/target.h"

namespace lay::plan {

struct Family {
  std::string_view target;  // as in `schedule KERNEL for simt`
  // In any order; what misfits may be among them.
  std::vector<sema::Schedule> (*propose)(const sema::Kernel&, const GemmForm&);
};
std::span<const Family> families();

struct Candidate {
  sema::Schedule schedule;
  Plan plan;                // of the kernel with this one schedule
  std::size_t variant = 0;  // of the plan: the one that takes the sizes
  double seconds = 0;       // as the model says

  const Variant& chosen() const { return plan.variants[variant]; }
};

// Fastest first. Empty where the kernel is no GEMM. The kernel's own schedules are not looked at.
std::vector<Candidate> ranked_candidates(const sema::KernelPtr& kernel, const Binding& sizes,
                                         const Target& target = default_target());

// The candidate with its tiles visited in groups of other numbers of rows, which the model does not
// tell apart; those that the laws allow.
std::vector<Candidate> reordered(const sema::KernelPtr& kernel, const Candidate& candidate,
                                 const Binding& sizes, const Target& target = default_target());

// The entries of a schedule as Lay, a line each: "tile = (128,256,8)".
std::vector<std::string> entry_lines(const sema::Schedule& schedule);
// The statements that load the instructions which they name: "use atoms.sm90".
std::set<std::string> libraries_of(const sema::Schedule& schedule);

// The families' proposals, for the table.
std::vector<sema::Schedule> simt_proposals(const sema::Kernel& kernel, const GemmForm& form);
std::vector<sema::Schedule> sm90_proposals(const sema::Kernel& kernel, const GemmForm& form);

}  // namespace lay::plan
