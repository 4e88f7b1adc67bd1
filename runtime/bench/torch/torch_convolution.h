// A convolution in one to three dimensions, recognised in the DAG:
//
//   Y[b,p,q,f] = sum[r,s,c]((if inside then X[b, 2*p+r-1, 2*q+s-1, c] else 0) * F[f,r,s,c])
//
// The condition, which may also stand around the product or be missing, says where the coordinates
// lie inside X. Modes stand in any order; there may be no b.
#pragma once

#include <optional>
#include <vector>

#include "runtime/bench/torch/torch_forms.h"

namespace lay::bench {

struct ConvolutionForm {
  // Loads. The modes are those of (b, c, rows, columns, ...) and (f, c, rows, columns, ...); -1
  // where there is no such mode.
  const sema::Load *input = nullptr, *filter = nullptr;
  std::vector<int> input_modes, filter_modes;
  // The indices of the result: b if there is one, f, rows, columns, ...
  std::vector<sema::IndexId> axes;
  // For each dimension.
  std::vector<std::int64_t> stride, padding, dilation;
  // The extents that PyTorch gives the dimensions: at least those of the axes.
  std::vector<std::int64_t> made;
};

// Returns the convolution that a sum is; nothing for any other sum.
std::optional<ConvolutionForm> convolution_form(const Problem& problem, const TorchForms& forms,
                                                const sema::Reduce& sum);

}  // namespace lay::bench
