// A mask: where the products of a kernel count at all.
#pragma once

#include <optional>

#include "backend/plan/sm90/sm90_gemm.h"

namespace lay::plan {

// Returns true if a condition compares whole numbers made of coordinates and sizes.
bool is_mask(const sema::Kernel& kernel, sema::NodeId condition);

// Returns the mask of C[m,n] = if condition then (with the sum) else (without it), or the reverse,
// under casts: the condition, and its value where the sum counts. Nothing unless the kernel has one
// output and the condition compares whole numbers made of coordinates and sizes.
std::optional<Mask> mask_of(const sema::Kernel& kernel, sema::NodeId contraction);

}  // namespace lay::plan
