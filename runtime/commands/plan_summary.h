// A plan in few lines: what takes which sizes, where its whole text would be hundreds.
#pragma once

#include <string>

#include "backend/plan/plan.h"
#include "backend/target/target.h"
#include "runtime/build/narrow.h"

namespace lay::runtime {

// A plan whose text has at most so many lines is printed whole.
inline constexpr int most_plan_lines = 60;

// Returns, in comments of at most 100 columns and `most_plan_lines` lines, the variants of the plan
// that a build for these sizes keeps (purpose_of): which share of drawn problems takes each, its
// pointers aligned, whether as the first whose conditions hold (`order`) or as the one of least
// cost, what bounds it by its forecast at the median of them, and its conditions, cut where they
// are long; then what launches lose to a build of all. Problems are drawn from a seed
// (backend/plan/narrow/drawn_sizes.h), so that the same plan gives the same text. Names of the
// other variants come last.
std::string plan_summary(const plan::Plan& plan, const Target& target,
                         const GivenSizes& sizes = {});

}  // namespace lay::runtime
