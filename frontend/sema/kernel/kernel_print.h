// A checked kernel as text: what `lay check --dump typed` shows.
//
//   kernel linear<M, N, K>
//     input   A: f32 (M,K):(K,1)
//     output  C: f32 (M,N):(N,1)
//     index   m < M, n < N; reduced k < K
//     guard   N >= 1
//     %0: f32 = A[m,k]
//     %2: f32 = sum[k](%1)
//     C[m,n] = %2
#pragma once

#include <string>

#include "frontend/sema/kernel/kernel.h"

namespace lay::sema {

std::string print(const Kernel& kernel);

}  // namespace lay::sema
