// Products whose operands lie in memory by views (operand_view.h).
#pragma once

#include <optional>

#include "backend/plan/recognise.h"

namespace lay::plan {

// The kernel with the rows of a window, and the indices of its sum, made one, and the product that
// it is then; nothing for other kernels, and for products that recognise_coalesced() finds.
//
//   Y[n,p,q,f] = sum[r,s,c]((if <p+r-1 and q+s-1 lie in X> then X[n,p+r-1,q+s-1,c] else 0)
//                           * W[f,r,s,c])                      m = n_p_q, n = f, k = r_s_c
//   C[m,n] = sum[k,l](A[k,m,l] * B[k,n,l])                     k = k_l
//
// Law: the same results. Outside of a tensor an operand is zero, where the kernel says so or never
// reads it. A is the factor with a window. At least one operand has a view.
std::optional<Gemm> recognise_viewed(const sema::KernelPtr& kernel, const Facts& facts);

}  // namespace lay::plan
