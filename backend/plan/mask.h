// A mask: where the products of a kernel count at all.
#pragma once

#include <optional>

#include "backend/plan/sm90/sm90_gemm.h"

namespace lay::plan {

// Whether a condition compares whole numbers made of coordinates and sizes.
bool is_mask(const sema::Kernel& kernel, sema::NodeId condition);

// C[m,n] = if condition then (what has the sum) else (what has not), or the other way round, under
// casts: the condition and the value at which the sum counts. Of kernels with one output whose
// condition compares whole numbers made of coordinates and sizes; nothing otherwise.
std::optional<Mask> mask_of(const sema::Kernel& kernel, sema::NodeId contraction);

}  // namespace lay::plan
