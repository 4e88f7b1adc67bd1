// The compiler on one page: a checked kernel through the stages, with what each may say against it
// as diagnostics.
//
//   check (sema) -> make_plan -> lower (+ passes, each verified) -> interpret, or emit -> NVRTC or
//   nvcc
#pragma once

#include <string>
#include <vector>

#include "backend/cuda/emit.h"
#include "backend/ir/ir.h"
#include "backend/plan/make.h"
#include "backend/plan/plan.h"
#include "backend/target/target.h"
#include "frontend/sema/kernel/kernel.h"
#include "frontend/source/diagnostic.h"
#include "frontend/source/source.h"

namespace lay::runtime {

// The plan for a GPU; DiagnosticError with the first of its problems, if it has any.
plan::Plan planned(const sema::KernelPtr& kernel, const Target& target = default_target(),
                   plan::Searched searched = plan::Searched::stated_sizes);

// The problems of a plan.
Diagnostics problems_of(const plan::Plan& plan);

// Returns the shortcomings of a plan, as warnings: "one-thread-an-element" where the kernel has no
// tiled form and is at least twice as slow as its operations and bytes allow, with the reason and
// the estimated factor. With `strict` they are errors.
Diagnostics warnings_of(const plan::Plan& plan, const Target& target, bool strict);

// The launches of one variant as IR, in order, with marks that lead back to the script.
std::vector<ir::Kernel> lowered(const Sources& sources, const plan::Plan& plan,
                                const plan::Variant& variant);

// One variant as CUDA; DiagnosticError where it does not fit the target.
cuda::Emitted emitted(const sema::Kernel& kernel, const ir::Kernel& lowered, const Target& target);

// DiagnosticError where the last variant, which takes the most sizes, cannot be said for the
// target.
void check_emittable(const Sources& sources, const plan::Plan& plan, const Target& target);

}  // namespace lay::runtime
