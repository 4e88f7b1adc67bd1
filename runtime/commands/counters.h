// The counts of the host interpreter for a run, beside what the plan predicted.
#pragma once

#include <string>
#include <vector>

#include "backend/interpret/interpret.h"
#include "backend/plan/plan.h"

namespace lay::runtime {

// A line for each statement that touches shared memory (wavefronts of a warp's access) or global
// memory (sectors), and for each prediction.
std::vector<std::string> counter_lines(const interpret::Report& counters,
                                       const plan::Prediction& predicted, const Binding& sizes);

}  // namespace lay::runtime
