// Predicts how long a launch will take, as far as the plan tells: the longest of the time in which
// the SMs compute whole rounds of tiles, and the times in which L2 and memory deliver the bytes.
// Good for ranking schedules of one kernel: for Hopper its order is held to measurements
// (tests/plan/ranking.cpp), which have the last word.
#pragma once

#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::plan {

// At these sizes; infinite where a prediction has no value for them.
double predicted_seconds(const sema::Kernel& kernel, const Variant& variant, const Binding& sizes,
                         const Target& target);

}  // namespace lay::plan
