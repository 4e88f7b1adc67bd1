// Indices that memory walks as one.
#pragma once

#include "frontend/algebra/integers/facts.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::tile {

// Returns the kernel with pairs of indices made one wherever every tensor that is read or written
// along them holds them side by side, the outer one a whole round of the inner one further:
//
//   s[i] = sum[m,n](X[m,n]) with X (M,N):(N,1)      sum[m_n](X[m_n]) with X M*N:1
//
// Law: a tensor's element at (m,n) is the new tensor's at m * N + n, so results are the same. An
// index whose value is used otherwise than as a coordinate stays.
// `fixed` is an index that stays as it is, or -1.
sema::Kernel coalesce_indices(const sema::Kernel& kernel, const Facts& facts,
                              sema::IndexId fixed = -1);

}  // namespace lay::tile
