// Which epilogue a GEMM has, in the words of a BLAS: found by what it computes, not by how it is
// written.
//
//   Y[m,n] = relu(acc + bias[n])                    alpha 1, bias along n, relu
//   C[m,n] = if beta == 0 then alpha * acc else alpha * acc + beta * C[m,n]     with alpha = 2,
//   beta = 0: alpha 2 Y[m,n] = if n <= m then acc else 0              none: it depends on the
//   coordinates
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "backend/plan/recognise.h"
#include "runtime/bench/cublaslt.h"
#include "runtime/bench/problem.h"

namespace lay::bench {

// f(alpha * sum + beta * c + bias), where tensors are -1 if they have no part.
struct Epilogue {
  double alpha = 1, beta = 0;
  sema::TensorId c = -1, bias = -1;
  bool bias_along_n = true;
  std::string_view activation = "none";  // "relu", "gelu" (with erf), "gelu_tanh"
  bool is_plain() const { return alpha == 1 && beta == 0 && bias < 0 && activation == "none"; }
};

struct NoEpilogue {
  std::string reason;
};

// At the problem's sizes and scalars.
std::variant<Epilogue, NoEpilogue> epilogue_of(const Problem& problem, const plan::GemmForm& form);

}  // namespace lay::bench
