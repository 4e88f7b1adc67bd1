// A product of rows with the weights of their groups, recognised in the DAG:
//
//   Y[t,n] = sum[k](X[t,k] * W[expert[t],n,k])                   rows of the groups anywhere
//   Y[t,n] = sum[k](X[t,k] * W[segment_of[e](start[e],t),n,k])   rows of a group side by side
#pragma once

#include <optional>
#include <vector>

#include "runtime/bench/torch/torch_forms.h"

namespace lay::bench {

struct GroupedForm {
  const sema::Load *rows = nullptr, *weights = nullptr;
  // (t, k), and (group, k, n) as PyTorch takes them.
  std::vector<int> rows_modes, weights_modes;
  sema::IndexId row = -1, column = -1;
  // Where the groups begin, or the group of each row.
  sema::TensorId groups = -1;
  bool are_starts = false;
};

// Returns the grouped product that a sum is; nothing for any other sum.
std::optional<GroupedForm> grouped_form(const Problem& problem, const TorchForms& forms,
                                        const sema::Reduce& sum);

}  // namespace lay::bench
