// Kernels that PyTorch has a function for, recognised in the DAG whatever their indices are called:
//
//   exp(x - max[k](x)) / sum[k](exp(x - max[k](x)))            torch.softmax
//   max[k](x) + log(sum[k](exp(x - max[k](x))))                torch.logsumexp
//   x * rsqrt(sum[k](x * x) / K + eps) * w[n]                  torch.nn.functional.rms_norm
//   (x - mean) * rsqrt(variance + eps) * w[n] + b[n]           torch.nn.functional.layer_norm
//   x * normcdf(x), x * sigmoid(x), ...                        gelu, silu
//
// The maximum may be missing from the first two: they have the same value without it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "runtime/bench/problem/problem.h"

namespace lay::bench {

// A softmax of `x` along `axis`, which is an index of `x`.
struct SoftmaxForm {
  sema::NodeId x = -1;
  sema::IndexId axis = -1;
};

// log(sum(exp(x))) over the indices.
struct LogSumExpForm {
  sema::NodeId x = -1;
  std::vector<sema::IndexId> indices;
};

// A norm of `x` along `axis`. Weight and bias are loads at the axis alone; -1 if there is none.
struct NormForm {
  bool is_layer_norm = false;
  sema::NodeId x = -1;
  sema::IndexId axis = -1;
  sema::NodeId weight = -1, bias = -1;
  double epsilon = 0;
};

// A function of one value.
struct ActivationForm {
  enum class Kind { gelu, gelu_tanh, silu, relu } kind = Kind::relu;
  sema::NodeId x = -1;
};

class TorchForms {
 public:
  explicit TorchForms(const Problem& problem);

  // Each returns the form that a node is the value of, or nothing.
  std::optional<SoftmaxForm> softmax(sema::NodeId id) const;
  std::optional<LogSumExpForm> log_sum_exp(sema::NodeId id) const;
  std::optional<NormForm> norm(sema::NodeId id) const;
  std::optional<ActivationForm> activation(sema::NodeId id) const;

  // Returns the indices that a value has an axis for: not those that its reductions run over.
  const std::set<sema::IndexId>& free_indices(sema::NodeId id) const {
    return free_[static_cast<std::size_t>(id)];
  }
  // Returns the node under casts.
  sema::NodeId under_casts(sema::NodeId id) const;
  // Returns the value of a node that no index changes and that loads nothing: of a literal, size or
  // scalar, also under casts.
  std::optional<double> number(sema::NodeId id) const;

  using Renamed = std::map<sema::IndexId, sema::IndexId>;
  // Returns whether `a` is the value of `b` once its indices are renamed.
  bool same(sema::NodeId a, sema::NodeId b, const Renamed& renamed = {}) const;

  // Returns the operands of a function, or null if the node, under casts, is anything else.
  const std::vector<sema::NodeId>* operands(sema::NodeId id, ElementFunction function) const;
  const sema::Reduce* reduction(sema::NodeId id, sema::ReduceFunction function) const;
  // Returns the load that a node is under casts; null for any other node.
  const sema::Load* load(sema::NodeId id) const;
  // Returns the factors of a product of products; of any other node the node itself.
  std::vector<sema::NodeId> multiplied(sema::NodeId id) const;

 private:
  // Returns x if the node is the maximum of `x`, renamed, over one index.
  bool is_maximum_of(sema::NodeId id, sema::NodeId x, sema::IndexId axis) const;
  // Returns the sum that is divided by the number of its terms.
  const sema::Reduce* mean(sema::NodeId id) const;
  // Returns whether the node is the mean of `x`, or of its square, along the axis.
  bool is_mean_of(sema::NodeId id, sema::NodeId x, sema::IndexId axis) const;
  bool is_mean_square_of(sema::NodeId id, sema::NodeId x, sema::IndexId axis) const;
  bool is_load_at(sema::NodeId id, sema::IndexId axis) const;
  // Splits a value into x and the weight, of which one has the axis alone.
  std::optional<NormForm> norm_of(const std::vector<sema::NodeId>& factors,
                                  sema::NodeId squares) const;
  void factors_of(sema::NodeId id, bool below, std::vector<sema::NodeId>& above_line,
                  std::vector<sema::NodeId>& below_line) const;

  const Problem& problem_;
  const sema::Kernel& kernel_;
  std::vector<std::set<sema::IndexId>> free_;  // by NodeId
};

}  // namespace lay::bench
