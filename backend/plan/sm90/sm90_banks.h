// Bank conflicts of what wgmma reads.
#pragma once

#include <string>

#include "backend/plan/plan.h"
#include "backend/plan/sm90/sm90_gemm.h"

namespace lay::plan {

// Operands lie in matrices of 8 rows of 16 bytes (PTX ISA, wgmma, core matrices), rows along the
// outer index of a K-major operand and along k of others; wgmma reads each at once. The worst of a
// stage.
BankConflicts worst_matrix(const TmaOperand& operand, const Sm90Gemm& gemm,
                           const sema::Kernel& kernel, const std::string& name);

}  // namespace lay::plan
