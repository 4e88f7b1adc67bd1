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

// The same, and also where an operand of the kernel's one sum has both indices and its scales the
// outer one alone, which becomes a quotient:
//
//   sum[g,k](s[m,g] * A[m,g,k] * B[n,g,k]) with A (M,K,128)
//   sum[g_k](s[m,g_k//128] * A[m,g_k] * B[n,g_k]) with A (M,128*K)
//
// Law: (i * N + j) // N = i for 0 <= j < N. A scale is a load that lacks an index of the sum. The
// inverse of split_indices() for such kernels.
sema::Kernel coalesce_with_quotients(const sema::Kernel& kernel, const Facts& facts);

// Returns true if a tensor holds the index along mode q side by side, and that along mode p a whole
// round of them further: both are plain modes, and q has as many elements as the index values.
bool are_side_by_side(const Facts& facts, const sema::Tensor& tensor, std::size_t p, std::size_t q,
                      const Int& extent);

}  // namespace lay::tile
