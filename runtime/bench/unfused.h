// The other way to come by a kernel's result: the product by a library, stored, and then the
// epilogue by a kernel of its own.
//
//   Y[m,n] = gelu(sum[k](X[m,k] * W[n,k]) + b[n])     becomes     product = X W'  and  Y[m,n] =
//   gelu(product[m,n] + b[n])
#pragma once

#include "backend/plan/recognise.h"
#include "runtime/bench/problem.h"

namespace lay::bench {

// The kernel with the sum read from one more tensor, its last, laid out as the output and of that
// element.
sema::KernelPtr epilogue_kernel(const sema::Kernel& kernel, const plan::GemmForm& form,
                                ElementType product);

}  // namespace lay::bench
