// Attention, recognised in the DAG:
//
//   O[b,h,i,e] = sum[j](softmax[j](mask(scale * sum[d](Q[b,h,i,d] * K[b,h//G,j,d])))[b,h,i,j]
//                       * V[b,h//G,j,e])
//
// The mask is none, or causal: -inf where j > i. G query heads share a head of K and V. There may
// be no b and no h.
#pragma once

#include <optional>
#include <vector>

#include "runtime/bench/torch/torch_forms.h"

namespace lay::bench {

struct AttentionForm {
  // Loads. The modes are those of (b, h, row, column); -1 where there is no such mode.
  const sema::Load *q = nullptr, *k = nullptr, *v = nullptr;
  std::vector<int> q_modes, k_modes, v_modes;
  // The indices of the result: b and h as far as they exist, i, e.
  std::vector<sema::IndexId> axes;
  double scale = 1;
  bool is_causal = false;
  // Several heads of Q share one of K and V.
  bool shares_heads = false;
};

// Returns the attention that a sum is; nothing for any other sum.
std::optional<AttentionForm> attention_form(const Problem& problem, const TorchForms& forms,
                                            const sema::Reduce& sum);

}  // namespace lay::bench
