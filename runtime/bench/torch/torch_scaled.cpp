#include "runtime/bench/torch/torch_scaled.h"

#include <algorithm>

#include "runtime/bench/problem/strides.h"
#include "runtime/bench/torch/torch_coordinates.h"
#include "runtime/bench/torch/torch_writer.h"

namespace lay::bench {

using sema::IndexId;
using sema::NodeId;
using sema::Reduce;

namespace {

constexpr std::int64_t block = 128;  // values of k with one scale, in PyTorch

class ScaledRecogniser {
 public:
  ScaledRecogniser(const Problem& problem, const TorchForms& forms)
      : problem_(problem), forms_(forms) {}

  std::optional<ScaledForm> form(NodeId id) {
    const Reduce* sum = nullptr;
    std::vector<NodeId> factors;
    for (const NodeId factor : forms_.multiplied(id)) {
      const Reduce* found = forms_.reduction(factor, sema::ReduceFunction::sum);
      if (found && sum) return std::nullopt;
      if (found)
        sum = found;
      else
        factors.push_back(factor);
    }
    if (!sum || sum->indices.size() != 1) return std::nullopt;
    k_ = sum->indices[0];
    for (const NodeId factor : forms_.multiplied(sum->body)) factors.push_back(factor);
    std::vector<const sema::Load*> scales;
    for (const NodeId factor : factors) {
      if (const auto number = constant_value(problem_, factor)) {
        made_.number *= *number;
        continue;
      }
      const sema::Load* load = forms_.load(factor);
      if (!load) return std::nullopt;
      const ElementType type = problem_.kernel->tensor(load->tensor).element;
      if (type == ElementType::f32)
        scales.push_back(load);
      else if (type != ElementType::e4m3 || !add_matrix(*load))
        return std::nullopt;
    }
    if (matrices_ != 2 || scales.size() != 2) return std::nullopt;
    if (made_.operands[0].index == made_.operands[1].index) return std::nullopt;
    for (const sema::Load* scale : scales)
      if (!add_scale(*scale)) return std::nullopt;
    // A scale for each block of both sides, or for none.
    for (const ScaledOperand& operand : made_.operands)
      if (!operand.scale || (operand.scale_modes[1] >= 0) != made_.has_blocks ||
          (!made_.has_blocks && operand.rows != 1))
        return std::nullopt;
    if (made_.operands[0].rows > 1 && made_.operands[1].rows > 1) return std::nullopt;
    return made_;
  }

 private:
  // Returns the quotients that the coordinates are, which have to run over the whole modes.
  std::optional<std::vector<Quotient>> coordinates(const sema::Load& load) const {
    std::vector<Quotient> made;
    const Tensor& tensor = problem_.tensors[static_cast<std::size_t>(load.tensor)];
    for (std::size_t mode = 0; mode < load.coordinate.size(); ++mode) {
      const auto index = quotient(problem_, load.coordinate[mode]);
      if (!index || (problem_.extent(index->index) + index->divisor - 1) / index->divisor !=
                        tensor.modes[mode].size)
        return std::nullopt;
      made.push_back(*index);
    }
    return made;
  }

  bool add_matrix(const sema::Load& load) {
    const auto at = coordinates(load);
    if (!at || at->size() != 2 || matrices_ == 2) return false;
    const int of_k = (*at)[0].index == k_ ? 0 : 1;
    const Quotient &row = (*at)[static_cast<std::size_t>(1 - of_k)],
                   &k = (*at)[static_cast<std::size_t>(of_k)];
    if (k.index != k_ || row.index == k_ || row.divisor != 1 || k.divisor != 1) return false;
    // PyTorch takes matrices that are contiguous along k.
    const auto stride = problem_.tensors[static_cast<std::size_t>(load.tensor)]
                            .modes[static_cast<std::size_t>(of_k)]
                            .stride();
    if (stride != 1) return false;
    ScaledOperand& operand = made_.operands[matrices_++];
    operand.matrix = &load;
    operand.index = row.index;
    operand.matrix_modes = {1 - of_k, of_k};
    return true;
  }

  bool add_scale(const sema::Load& load) {
    const auto at = coordinates(load);
    if (!at) return false;
    int of_row = -1, of_k = -1;
    ScaledOperand* operand = nullptr;
    for (std::size_t mode = 0; mode < at->size(); ++mode) {
      const Quotient& each = (*at)[mode];
      if (each.index == k_) {
        if (of_k >= 0 || each.divisor != block) return false;
        of_k = static_cast<int>(mode);
        continue;
      }
      if (operand || (each.divisor != 1 && each.divisor != block)) return false;
      for (ScaledOperand& candidate : made_.operands)
        if (candidate.index == each.index) operand = &candidate;
      if (!operand || operand->scale) return false;
      operand->rows = each.divisor;
      of_row = static_cast<int>(mode);
    }
    if (!operand) return false;
    operand->scale = &load;
    operand->scale_modes = {of_row, of_k};
    made_.has_blocks = made_.has_blocks || of_k >= 0;
    return true;
  }

  const Problem& problem_;
  const TorchForms& forms_;
  ScaledForm made_;
  int matrices_ = 0;
  IndexId k_ = -1;
};

}  // namespace

std::optional<ScaledForm> scaled_form(const Problem& problem, const TorchForms& forms,
                                      NodeId node) {
  return ScaledRecogniser(problem, forms).form(node);
}

namespace torch {

std::string Writer::scale_text(const ScaledOperand& operand) {
  const sema::TensorId tensor = operand.scale->tensor;
  const std::string text = arranged(tensor, operand.scale_modes);
  if (operand.scale_modes[1] < 0) return text;
  // Scales of single rows lie along the rows, those of 128 rows along k.
  const auto& modes = problem_.tensors[static_cast<std::size_t>(tensor)].modes;
  const Mode &rows = modes[static_cast<std::size_t>(operand.scale_modes[0])],
             &blocks = modes[static_cast<std::size_t>(operand.scale_modes[1])];
  const bool along_rows = operand.rows == 1;
  const Mode &inner = along_rows ? rows : blocks, &outer = along_rows ? blocks : rows;
  if (inner.stride() == 1 && (outer.stride() == inner.size || outer.size == 1)) return text;
  return prepared([&] {
           Value made;
           made.text = statement(text + (along_rows ? ".T.contiguous().T" : ".contiguous()"));
           return made;
         })
      .text;
}

std::optional<Value> Writer::scaled_product(NodeId id) {
  const auto form = scaled_form(problem_, forms_, id);
  if (!form) return std::nullopt;
  const auto order = in_order({form->operands[0].index, form->operands[1].index});
  const std::size_t first = form->operands[0].index == order[0] ? 0 : 1;
  const ScaledOperand &a = form->operands[first], &b = form->operands[1 - first];
  const auto extent_of = [&](const ScaledOperand& operand, std::size_t mode) {
    return problem_.tensors[static_cast<std::size_t>(operand.matrix->tensor)]
        .modes[static_cast<std::size_t>(operand.matrix_modes[mode])]
        .size;
  };
  constexpr std::int64_t multiple = 16;
  if (extent_of(a, 1) % multiple != 0 || extent_of(b, 0) % multiple != 0) return std::nullopt;
  Value made;
  made.axes = order;
  made.type = form->has_blocks && target_ == ElementType::f32 ? target_ : ElementType::bf16;
  made.wanted = kernel_.node(id).type;
  made.is_rounded = is_half(made.type);
  call("torch._scaled_mm");
  const std::string scale_a = scale_text(a);
  const std::string scale_b = scale_text(b) + ".T";
  made.text =
      library_statement("torch._scaled_mm(" + arranged(a.matrix->tensor, a.matrix_modes) + ", " +
                        arranged(b.matrix->tensor, b.matrix_modes) + ".T, scale_a=" + scale_a +
                        ", scale_b=" + scale_b + ", out_dtype=" + type_text(made.type) +
                        (form->has_blocks ? ")" : ", use_fast_accum=True)"));
  if (form->number != 1) made.text = statement(real_text(form->number) + " * " + made.text);
  return made;
}

}  // namespace torch

}  // namespace lay::bench
