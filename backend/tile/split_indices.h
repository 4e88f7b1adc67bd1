// Indices that are used by their quotient and remainder.
#pragma once

#include "frontend/algebra/integers/facts.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::tile {

// Returns the kernel with an index made two wherever it is used only as a coordinate and by its
// quotient and remainder by one number that divides its extent:
//
//   Q[h,i,d] * K[h//G,j,d]      Q[h_outer,h_inner,i,d] * K[h_outer,j,d]
//   s[m,k//128] * A[m,k]        s[m,k_outer] * A[m,k_outer,k_inner]
//
// Law: x = x // q * q + x % q. A tensor's element at x is the new tensor's at (x // q, x % q): its
// mode becomes two, of strides q and 1 times that of the mode.
sema::Kernel split_indices(const sema::Kernel& kernel, const Facts& facts);

}  // namespace lay::tile
