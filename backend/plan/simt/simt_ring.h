// A ring of stages for a SIMT GEMM: what TMA copies into it, and which thread has which registers.
#pragma once

#include <vector>

#include "backend/plan/copies.h"

namespace lay::plan {

// Gives boxes to each operand that TMA can load as it is multiplied, with what TMA asks of the
// tensor in `conditions`: where vectors are allowed, one that runs along m or n and is not
// converted. The rest goes through the registers of the producer threads. Sets gemm.registers.
// Problems: "schedule-capability", "schedule-threads".
bool choose_ring(SimtGemm& gemm, const sema::Kernel& kernel, Facts& facts, const Target& target,
                 Width width, const SimtSchedule& schedule, Conditions& conditions,
                 std::vector<Problem>& problems);

}  // namespace lay::plan
