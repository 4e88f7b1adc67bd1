// The sums that are accumulated, and their multiplicands that can stand before the sum.
#pragma once

#include <optional>
#include <vector>

#include "backend/tile/products/factors.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::plan {

// The sum that a node is, in a type that threads or tensor cores accumulate; null for another node.
const sema::Reduce* accumulated_sum(const sema::Kernel& kernel, sema::NodeId id);

using tile::multiplicands;

// The kernel with multiplicands of a sum that depend on none of its indices multiplied after it;
// nothing where there are none, or where fewer than two others would be left:
//
//   sum[k](row[m] * A[m,k] * column[n] * B[n,k])     row[m] * column[n] * sum[k](A[m,k] * B[n,k])
//
// Law: equal up to rounding.
std::optional<sema::Kernel> with_factors_outside(const sema::Kernel& kernel);

}  // namespace lay::plan
