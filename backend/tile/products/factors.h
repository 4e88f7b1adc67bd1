// What a sum of products multiplies: elements of tensors, perhaps with zeros around them, and
// further factors.
#pragma once

#include <optional>
#include <vector>

#include "frontend/sema/kernel/kernel.h"

namespace lay::tile {

// Returns the operands of products of products, in the order in which they are written:
//
//   a[m,k//128] * A[m,k] * B[n,k]          a[m,k//128], f32(A[m,k]), f32(B[n,k])
//   a[m,k//128] * f32(S[m,k] * T[n,k])     with S and T of 8-bit integers: a[..], s32(S), s32(T)
//
// Law: the value is their product, up to rounding. A product of 8-bit integers, which is computed
// as s32, is a number of f32, so that a cast around it changes nothing.
std::vector<sema::NodeId> multiplicands(const sema::Kernel& kernel, sema::NodeId value);

// The element of a tensor that a factor is under casts, and where it is one only where a condition
// holds and else 0: that condition and the selection.
//
//   f32(X[m,k])       if c then X[m,k] else 0       f32(if c then X[m,k] else 0)
struct FactorElement {
  sema::NodeId load = -1;
  sema::NodeId condition = -1;  // -1: it is the element everywhere
  sema::NodeId selection = -1;
};

// Returns nothing for a factor that is computed otherwise. -0 is no zero here: TMA fills with +0,
// and x * -0 has another sign.
std::optional<FactorElement> element_of(const sema::Kernel& kernel, sema::NodeId factor);

// The sum's factors beside those that are elements of two loads, in the order of the product.
// Returns nothing where either load is no factor.
struct Factors {
  sema::NodeId a = -1, b = -1;       // the factors
  std::vector<sema::NodeId> others;  // that multiply the sum of a group
};
std::optional<Factors> factors_of(const sema::Kernel& kernel, sema::NodeId sum, sema::NodeId a,
                                  sema::NodeId b);

// Returns true if the value depends on the index, otherwise than by the node `through` alone.
bool depends_on(const sema::Kernel& kernel, sema::NodeId value, sema::IndexId index,
                sema::NodeId through = -1);

}  // namespace lay::tile
