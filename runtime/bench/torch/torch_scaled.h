// Products of 8-bit floats with scales, recognised in the DAG:
//
//   a[m] * b[n] * sum[k](A[m,k] * B[n,k])                          a scale for each row and column
//   sum[k](a[m,k//128] * A[m,k] * b[n//128,k//128] * B[n,k])       for 1 x 128 and 128 x 128
//   numbers
//
// Factors stand in any order, those without k inside or outside of the sum, and numbers among them.
#pragma once

#include <optional>
#include <vector>

#include "runtime/bench/torch/torch_forms.h"

namespace lay::bench {

// One matrix and its scales.
struct ScaledOperand {
  const sema::Load *matrix = nullptr, *scale = nullptr;
  // The index that the other matrix has not.
  sema::IndexId index = -1;
  // The modes of the matrix and of the scales: that of the index, that of k (-1: there is none).
  std::vector<int> matrix_modes, scale_modes;
  // The number of values of the index that share one scale.
  std::int64_t rows = 1;
};

struct ScaledForm {
  ScaledOperand operands[2];
  double number = 1;
  // The scales change every 128 values of k.
  bool has_blocks = false;
};

// Returns the scaled product that a node is; nothing for any other node.
std::optional<ScaledForm> scaled_form(const Problem& problem, const TorchForms& forms,
                                      sema::NodeId node);

}  // namespace lay::bench
