// The cuBLASLt matmul that computes what a GEMM kernel computes, with the tensors that stand for
// its matrices.
//
// A BLAS's matrices are column-major. A row-major output is the transpose of a column-major one,
// so there A and B change places (swap_ab): D' = op(B') op(A').
#pragma once

#include <string>
#include <variant>

#include "runtime/bench/cublaslt.h"
#include "runtime/bench/problem/epilogue.h"
#include "runtime/bench/problem/problem.h"

namespace lay::bench {

struct Baseline {
  // Without the epilogue: alpha 1, beta 0, D of the output's element type.
  MatmulDescription matmul;
  sema::TensorId left = -1, right = -1, output = -1;
  // The rows of D are n.
  bool swap_ab = false;
  // "bf16 K-major x bf16 K-major -> bf16 row-major"
  std::string text;
};

// The reason why cuBLASLt cannot compute the kernel: "A is stored in tiles".
struct NoBaseline {
  std::string reason;
};

// Returns whether an operand is multiplied as tf32: it is stored as tf32, or is cast to it.
bool is_tf32(const Problem& problem, sema::NodeId operand);

// Returns the product alone, without the kernel's epilogue.
std::variant<Baseline, NoBaseline> baseline_of(const Problem& problem, const plan::GemmForm& form);

// Returns the product with the epilogue fused, if cuBLASLt has this epilogue for this orientation
// of the output.
std::variant<MatmulDescription, NoBaseline> with_epilogue(const Problem& problem,
                                                          const Baseline& baseline,
                                                          const Epilogue& epilogue);

}  // namespace lay::bench
