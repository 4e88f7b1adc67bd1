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

// The mask of the weights of chained products: what it selects, and the value where it holds.
struct WeightMask {
  Mask mask;
  sema::NodeId selection = -1, value = -1;
};
// Returns the mask under which a score is -inf where a condition fails, which gives it the weight
// 0; without a maximum, under which the weight itself is 0 there. Column tiles that it leaves
// nothing of are walked past. Nothing where sums of other terms would miss them.
std::optional<WeightMask> mask_of_weights(const tile::Program& chained);

}  // namespace lay::plan
