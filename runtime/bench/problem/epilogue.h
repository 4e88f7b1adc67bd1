// The epilogue of a GEMM, in the terms of a BLAS. It is recognised by what it computes, not by how
// it is written, at the problem's sizes and scalars:
//
//   Y[m,n] = relu(acc + bias[n])             alpha 1, bias along n, relu
//   C[m,n] = if beta == 0 then alpha * acc
//            else alpha * acc + beta * C[m,n]     with alpha = 2, beta = 0: alpha 2
//   Y[m,n] = if n <= m then acc else 0       none: it depends on the coordinates
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "backend/plan/recognise.h"
#include "runtime/bench/cublaslt.h"
#include "runtime/bench/problem/problem.h"

namespace lay::bench {

// f(alpha * sum + beta * c + bias). A tensor that takes no part is -1.
struct Epilogue {
  double alpha = 1, beta = 0;
  sema::TensorId c = -1, bias = -1;
  bool bias_along_n = true;
  // "relu", "gelu" (with erf), "gelu_tanh"
  std::string_view activation = "none";
  bool is_plain() const { return alpha == 1 && beta == 0 && bias < 0 && activation == "none"; }
};

// The reason why cuBLASLt does not have the epilogue.
struct NoEpilogue {
  std::string reason;
};

std::variant<Epilogue, NoEpilogue> epilogue_of(const Problem& problem, const plan::GemmForm& form);

// Returns the kernel's epilogue as a kernel of its own, for a baseline that stores the product and
// then runs the epilogue:
//
//   Y[m,n] = gelu(sum[k](X[m,k] * W[n,k]) + b[n])    becomes    Y[m,n] = gelu(product[m,n] + b[n])
//
// The product is one more tensor, the last, laid out as the output, of the element type `product`.
sema::KernelPtr epilogue_kernel(const sema::Kernel& kernel, const plan::GemmForm& form,
                                ElementType product);

}  // namespace lay::bench
