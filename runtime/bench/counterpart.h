// The product of matrices that a BLAS knows and that computes what a kernel computes, with the
// tensors that stand for its matrices.
//
// A BLAS's matrices are column-major. A row-major output is the transpose of a column-major one, so
// there the factors change places: D' = op(B') op(A').
#pragma once

#include <string>
#include <variant>

#include "runtime/bench/cublaslt.h"
#include "runtime/bench/epilogue.h"
#include "runtime/bench/problem.h"

namespace lay::bench {

struct Counterpart {
  MatmulDescription matmul;  // without the epilogue: alpha 1, beta 0, D of the element given
  sema::TensorId left = -1, right = -1, output = -1;
  bool swapped = false;  // rows of D are n
  std::string words;     // "bf16 x bf16 -> bf16, A and B K-major, C row-major"
};

struct NoCounterpart {
  std::string reason;  // "A is stored in tiles"
};

// Whether a factor is multiplied as tf32: it lies in memory so, or is cast to it.
bool is_tf32(const Problem& problem, sema::NodeId factor);

std::variant<Counterpart, NoCounterpart> counterpart_of(const Problem& problem,
                                                        const plan::GemmForm& form);

// The counterpart with the epilogue fused, where cuBLASLt has it for this orientation; else why
// not.
std::variant<MatmulDescription, NoCounterpart> with_epilogue(const Problem& problem,
                                                             const Counterpart& counterpart,
                                                             const Epilogue& epilogue);

}  // namespace lay::bench
