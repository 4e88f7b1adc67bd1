#include "runtime/bench/torch/torch_attention.h"

#include <algorithm>
#include <cmath>

#include "runtime/bench/torch/torch_coordinates.h"
#include "runtime/bench/torch/torch_writer.h"

namespace lay::bench {

using sema::IndexId;
using sema::NodeId;
using sema::Reduce;
using sema::ReduceFunction;

namespace {

// A sum of products times a number.
struct ScaledSum {
  const Reduce* sum = nullptr;
  double scale = 1;
};

class AttentionRecogniser {
 public:
  AttentionRecogniser(const Problem& problem, const TorchForms& forms)
      : problem_(problem), kernel_(*problem.kernel), forms_(forms) {}

  std::optional<AttentionForm> form(const Reduce& outer) {
    if (outer.function != ReduceFunction::sum || outer.indices.size() != 1) return std::nullopt;
    const auto factors = forms_.multiplied(outer.body);
    if (factors.size() != 2) return std::nullopt;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const auto weights = forms_.softmax(factors[i]);
      made_.v = forms_.load(factors[1 - i]);
      if (!weights || !made_.v || weights->axis != outer.indices[0]) continue;
      column_ = weights->axis;
      if (const auto score = masked(weights->x); score && scores(*score) && heads()) return made_;
    }
    return std::nullopt;
  }

 private:
  std::int64_t extent(IndexId index) const { return problem_.extent(index); }

  bool is_minus_infinity(NodeId id) const {
    const auto value = constant_value(problem_, id);
    return value && std::isinf(*value) && *value < 0;
  }

  // Returns the scores under the mask.
  std::optional<NodeId> masked(NodeId x) {
    const auto* chosen = forms_.operands(x, ElementFunction::select);
    if (!chosen) return x;
    auto holds = inequalities(problem_, (*chosen)[0]);
    if (!holds) return std::nullopt;
    NodeId score = (*chosen)[1], otherwise = (*chosen)[2];
    if (is_minus_infinity(score)) {
      std::swap(score, otherwise);
      holds = negated(*holds);
    }
    if (!holds || !is_minus_infinity(otherwise)) return std::nullopt;
    std::erase_if(*holds, [&](const AffineNumber& n) { return range_of(problem_, n).first >= 0; });
    if (holds->size() > 1) return std::nullopt;
    if (!holds->empty()) mask_ = holds->front();
    return score;
  }

  // Returns the sum that a node is a multiple of.
  std::optional<ScaledSum> multiple(NodeId id) const {
    if (const Reduce* sum = forms_.reduction(id, ReduceFunction::sum)) return ScaledSum{sum, 1};
    if (const auto* quotient = forms_.operands(id, ElementFunction::div)) {
      auto above = multiple((*quotient)[0]);
      const auto below = constant_value(problem_, (*quotient)[1]);
      if (!above || !below) return std::nullopt;
      above->scale /= *below;
      return above;
    }
    const auto* product = forms_.operands(id, ElementFunction::mul);
    if (!product) return std::nullopt;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
      if (const auto number = constant_value(problem_, (*product)[i]))
        if (auto other = multiple((*product)[1 - i])) {
          other->scale *= *number;
          return other;
        }
    return std::nullopt;
  }

  // Recognises scale * sum[d](Q * K): Q has not the column j, K has.
  bool scores(NodeId id) {
    const auto score = multiple(id);
    if (!score || score->sum->indices.size() != 1) return false;
    made_.scale = score->scale;
    depth_ = score->sum->indices[0];
    std::vector<NodeId> loads;
    for (const NodeId factor : forms_.multiplied(score->sum->body))
      if (const auto number = constant_value(problem_, factor))
        made_.scale *= *number;
      else
        loads.push_back(factor);
    if (loads.size() != 2) return false;
    if (forms_.free_indices(loads[0]).contains(column_)) std::swap(loads[0], loads[1]);
    made_.q = forms_.load(loads[0]), made_.k = forms_.load(loads[1]);
    return made_.q && made_.k && !forms_.free_indices(loads[0]).contains(column_);
  }

  // Returns, for each coordinate of a load, the index that it is a quotient of; nothing if another
  // coordinate is computed, or if an index does not run over the whole mode.
  std::optional<std::vector<Quotient>> coordinates(const sema::Load& load) const {
    std::vector<Quotient> made;
    const Tensor& tensor = problem_.tensors[static_cast<std::size_t>(load.tensor)];
    for (std::size_t mode = 0; mode < load.coordinate.size(); ++mode) {
      const auto index = quotient(problem_, load.coordinate[mode]);
      if (!index || extent(index->index) != tensor.modes[mode].size * index->divisor)
        return std::nullopt;
      made.push_back(*index);
    }
    return made;
  }

  static int mode_of(const std::vector<Quotient>& modes, IndexId index) {
    const auto found = std::find_if(modes.begin(), modes.end(),
                                    [&](const Quotient& mode) { return mode.index == index; });
    return found == modes.end() ? -1 : static_cast<int>(found - modes.begin());
  }

  // Places the modes of Q, K and V, of which the row i is the index that the mask compares, or else
  // the last one of Q beside d.
  bool heads() {
    const auto q = coordinates(*made_.q), k = coordinates(*made_.k), v = coordinates(*made_.v);
    if (!q || !k || !v) return false;
    const int column = mode_of(*k, column_), k_depth = mode_of(*k, depth_);
    const int q_depth = mode_of(*q, depth_), v_row = mode_of(*v, column_);
    if (column < 0 || k_depth < 0 || q_depth < 0 || v_row < 0) return false;
    // The row and the heads are Q's, the width is V's alone.
    std::vector<IndexId> shared;
    IndexId row = -1, width = -1;
    for (const Quotient& each : *q) {
      if (each.divisor != 1) return false;
      if (each.index == depth_) continue;
      if (mode_of(*k, each.index) < 0 && mode_of(*v, each.index) < 0 && row < 0)
        row = each.index;
      else
        shared.push_back(each.index);
    }
    for (const Quotient& each : *v)
      if (each.index != column_ && mode_of(*q, each.index) < 0) width = each.index;
    if (row < 0 || width < 0 || shared.size() > 2) return false;
    if (q->size() != shared.size() + 2 || v->size() != k->size() || k->size() != shared.size() + 2)
      return false;
    // Those that share heads come last.
    const auto divisor = [&](const std::vector<Quotient>& modes, IndexId index) {
      const int mode = mode_of(modes, index);
      return mode < 0 ? 0 : modes[static_cast<std::size_t>(mode)].divisor;
    };
    std::stable_sort(shared.begin(), shared.end(), [&](IndexId a, IndexId b) {
      return divisor(*k, a) == 1 && divisor(*k, b) > 1;
    });
    for (std::size_t i = 0; i < shared.size(); ++i) {
      const std::int64_t sharing = divisor(*k, shared[i]);
      if (sharing == 0 || sharing != divisor(*v, shared[i])) return false;
      if (sharing > 1 && i + 1 != shared.size()) return false;
      made_.shares_heads = sharing > 1;
    }
    if (!is_causal_or_none(row)) return false;
    made_.q_modes = made_.k_modes = made_.v_modes = std::vector<int>(2 - shared.size(), -1);
    made_.axes = shared;
    for (const IndexId index : shared) {
      made_.q_modes.push_back(mode_of(*q, index));
      made_.k_modes.push_back(mode_of(*k, index));
      made_.v_modes.push_back(mode_of(*v, index));
    }
    made_.q_modes.insert(made_.q_modes.end(), {mode_of(*q, row), q_depth});
    made_.k_modes.insert(made_.k_modes.end(), {column, k_depth});
    made_.v_modes.insert(made_.v_modes.end(), {v_row, mode_of(*v, width)});
    made_.axes.insert(made_.axes.end(), {row, width});
    return true;
  }

  // PyTorch's causal mask is i >= j, from the first row and column on.
  bool is_causal_or_none(IndexId row) {
    made_.is_causal = mask_.has_value();
    return !mask_ || (mask_->factors.size() == 2 && mask_->constant == 0 &&
                      mask_->factor(row) > 0 && mask_->factor(row) == -mask_->factor(column_));
  }

  const Problem& problem_;
  const sema::Kernel& kernel_;
  const TorchForms& forms_;
  AttentionForm made_;
  std::optional<AffineNumber> mask_;
  IndexId column_ = -1, depth_ = -1;
};

}  // namespace

std::optional<AttentionForm> attention_form(const Problem& problem, const TorchForms& forms,
                                            const Reduce& sum) {
  return AttentionRecogniser(problem, forms).form(sum);
}

namespace torch {

std::optional<Value> Writer::attention(const Reduce& reduce) {
  const auto form = attention_form(problem_, forms_, reduce);
  if (!form) return std::nullopt;
  const ElementType type = kernel_.tensor(form->q->tensor).element;
  // Other types have no backend but one of plain products.
  if (!is_half(type) || kernel_.tensor(form->k->tensor).element != type ||
      kernel_.tensor(form->v->tensor).element != type)
    return std::nullopt;
  made_.has_attention = true;
  made_.set_up.insert("import torch.nn.attention");
  call("torch.nn.functional.scaled_dot_product_attention");
  std::string text = "F.scaled_dot_product_attention(" + arranged(form->q->tensor, form->q_modes) +
                     ", " + arranged(form->k->tensor, form->k_modes) + ", " +
                     arranged(form->v->tensor, form->v_modes);
  if (form->is_causal) text += ", is_causal=True";
  text += ", scale=" + real_text(form->scale);
  if (form->shares_heads) text += ", enable_gqa=True";
  std::string within;
  if (alternative_ == Alternative::cudnn) within = "CUDNN_ATTENTION";
  if (alternative_ == Alternative::flash) within = "FLASH_ATTENTION";
  if (!within.empty()) {
    lines_.push_back("with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend." + within +
                     "):");
    ++library_lines_;
  }
  std::string name = library_statement(text + ")");
  if (!within.empty()) lines_.back() = "    " + lines_.back();
  for (std::size_t missing = form->axes.size(); missing < 4; ++missing)
    name = library_statement(name + ".squeeze(0)");
  Value made = ordered(name, form->axes);
  made.type = type;
  made.is_rounded = true;
  return made;
}

}  // namespace torch

}  // namespace lay::bench
