// How long a launch will take, as far as it can be said from the plan: the longest of what the
// SMs compute in whole rounds of tiles, what L2 delivers and what
// memory delivers. Good for ranking schedules of one kernel: for Hopper its order is held to what
// was measured (tests/plan/ranking.cpp). What is measured counts.
#pragma once

#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::plan {

// At these sizes; infinite where a prediction has no value for them.
double predicted_seconds(const sema::Kernel& kernel, const Variant& variant, const Binding& sizes,
                         const Target& target);

}  // namespace lay::plan
