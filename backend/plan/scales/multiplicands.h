// Finds the multiplicands of a sum, and those of them that can stand before the sum.
#pragma once

#include <optional>
#include <vector>

#include "frontend/sema/kernel/kernel.h"

namespace lay::plan {

// The sum that a node is, in a type that threads or tensor cores accumulate; null for another node.
const sema::Reduce* accumulated_sum(const sema::Kernel& kernel, sema::NodeId id);

// Returns the operands of products of products, in the order in which they are written:
//
//   a[m,k//128] * A[m,k] * B[n,k]          a[m,k//128], f32(A[m,k]), f32(B[n,k])
//   a[m,k//128] * f32(S[m,k] * T[n,k])     with S and T of 8-bit integers: a[..], s32(S), s32(T)
//
// Law: the value is their product, up to rounding. A product of 8-bit integers, which is computed
// as s32, is a number of f32, so that a cast around it changes nothing.
std::vector<sema::NodeId> multiplicands(const sema::Kernel& kernel, sema::NodeId value);

// The kernel with multiplicands of a sum that depend on none of its indices multiplied after it;
// nothing where there are none, or where fewer than two others would be left:
//
//   sum[k](row[m] * A[m,k] * column[n] * B[n,k])     row[m] * column[n] * sum[k](A[m,k] * B[n,k])
//
// Law: equal up to rounding.
std::optional<sema::Kernel> with_factors_outside(const sema::Kernel& kernel);

}  // namespace lay::plan
