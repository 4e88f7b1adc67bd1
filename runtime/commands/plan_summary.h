// A plan in few lines: what takes which sizes, where its whole text would be hundreds.
#pragma once

#include <string>

#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::runtime {

// A plan whose text has at most so many lines is printed whole.
inline constexpr int most_plan_lines = 60;

// Returns, in comments of at most 100 columns and `most_plan_lines` lines, the plan's variants:
// which share of drawn problems takes each, its pointers aligned, whether as the first whose
// conditions hold (`order`) or as the one of least cost, what bounds it by its forecast at the
// median of them, and its conditions, cut where they are long. Problems are drawn from a seed, so
// that the same plan gives the same text: sizes from 8 to 16384, of which each factor of two is as
// likely, their product at most 2^36, a third of the problems in multiples of 64, a third of 8.
// Names of the variants that none of them takes come last.
std::string plan_summary(const plan::Plan& plan, const Target& target);

}  // namespace lay::runtime
