// Which instructions copy what a product on tensor cores reads and stores: those of the schedule's
// entry `copies` where they can, else the library's.
#pragma once

#include <string>
#include <vector>

#include "backend/plan/plan.h"
#include "backend/plan/sm80/sm80_gemm.h"
#include "backend/plan/sm90/sm90_gemm.h"
#include "frontend/sema/kernel/copy_instruction.h"

namespace lay::plan {

// The value of the entry: "sm75.ldmatrix(n = 2)", "(sm75.ldmatrix(n = 2), sm90.stmatrix(n = 2))".
std::string copies_text(const std::vector<sema::CopyInstruction>& copies);

// The instructions of the product's copies, each once: what its kernel declares.
std::vector<sema::CopyInstruction> copies_of(const sema::Kernel& kernel, const Sm80Gemm& gemm);
std::vector<sema::CopyInstruction> copies_of(const sema::Kernel& kernel, const Sm90Gemm& gemm);
// None of a variant that is no product on tensor cores.
std::vector<sema::CopyInstruction> copies_of(const Variant& variant);

}  // namespace lay::plan
