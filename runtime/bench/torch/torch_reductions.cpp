#include "runtime/bench/torch/torch_attention.h"
#include "runtime/bench/torch/torch_convolution.h"
#include "runtime/bench/torch/torch_words.h"
#include "runtime/bench/torch/torch_writer.h"

namespace lay::bench::torch {

using sema::ReduceFunction;

bool Writer::has_own_function(NodeId id, const Reduce& reduce) const {
  return attention_form(problem_, forms_, reduce) || convolution_form(problem_, forms_, reduce) ||
         scaled_form(problem_, forms_, id) || grouped_form(problem_, forms_, reduce);
}

Value Writer::reduced(NodeId id, const Reduce& reduce) {
  if (reduce.function == ReduceFunction::sum) {
    if (alternative_ == Alternative::equal_gemm)
      if (auto made = equal_gemm(id)) return *made;
    if (auto made = attention(reduce)) return *made;
    if (auto made = convolution(reduce)) return *made;
    if (auto made = scaled_product(id)) return *made;
    if (auto made = grouped_product(reduce)) return *made;
    if (auto made = product_sum(id, reduce)) return *made;
  }
  Value body = value(reduce.body);
  const ElementType type = kernel_.node(id).type;
  // Small floats have no reductions.
  if (is_float(body.type) && bits(body.type) <= 8) body = exact(body);
  body = with_axes(body, reduce.indices);
  Value made;
  made.axes = body.axes;
  std::erase_if(made.axes, [&](IndexId axis) { return has(reduce.indices, axis); });
  std::vector<std::string> dims = places(body, reduce.indices);
  const std::string all = "dim=(" + listed(dims) + ")";
  // The last axis first, so that the places of the others stay.
  const auto one_by_one = [&](const std::string& function, const std::string& options) {
    std::string text = body.text;
    for (std::size_t i = dims.size(); i-- > 0;)
      text = function + "(" + text + ", dim=" + dims[i] + options + ")";
    return text;
  };
  made.type = body.type;
  switch (reduce.function) {
    case ReduceFunction::sum:
    case ReduceFunction::prod: {
      // They accumulate halves in f32, whatever type they return.
      made.type = is_narrow_root(id, body.type) ? body.type : type;
      made.is_rounded = is_half(made.type);
      const std::string options =
          made.type == body.type && is_float(body.type) ? "" : ", dtype=" + type_text(made.type);
      made.text = reduce.function == ReduceFunction::sum
                      ? "torch.sum(" + body.text + ", " + all + options + ")"
                      : one_by_one("torch.prod", options);
      call(reduce.function == ReduceFunction::sum ? "torch.sum" : "torch.prod");
      break;
    }
    case ReduceFunction::max:
    case ReduceFunction::min: {
      const std::string function =
          reduce.function == ReduceFunction::max ? "torch.amax" : "torch.amin";
      made.text = function + "(" + body.text + ", " + all + ")";
      call(function);
      break;
    }
    case ReduceFunction::any:
    case ReduceFunction::all: {
      const std::string function =
          reduce.function == ReduceFunction::any ? "torch.any" : "torch.all";
      made.type = ElementType::pred;
      made.text = one_by_one(function, "");
      call(function);
      break;
    }
    case ReduceFunction::argmax:
    case ReduceFunction::argmin: {
      const std::string function =
          reduce.function == ReduceFunction::argmax ? "torch.argmax" : "torch.argmin";
      if (dims.size() != 1) throw NotInTorch{"it asks for a position over several indices"};
      made.type = ElementType::s64;
      made.text = one_by_one(function, "");
      call(function);
      break;
    }
  }
  made.text = statement(made.text);
  // Positions are s64 in PyTorch.
  return made.type == ElementType::s64 ? converted(made, type) : made;
}

Value Writer::with_axes(Value value, const std::vector<IndexId>& indices) {
  std::set<IndexId> wanted(indices.begin(), indices.end());
  wanted.insert(value.axes.begin(), value.axes.end());
  const Axes axes = in_order(wanted);
  if (!value.number && axes == value.axes) return value;
  std::vector<std::string> extents;
  for (const IndexId index : axes) extents.push_back(std::to_string(problem_.extent(index)));
  const std::string shape = "(" + listed(extents) + ")";
  value.text = value.number ? "torch.full(" + shape + ", " + value.text +
                                  ", dtype=" + type_text(value.type) + ", device=\"cuda\")"
                            : aligned(value, axes) + ".expand(" + shape + ")";
  value.number.reset();
  value.axes = axes;
  return value;
}

}  // namespace lay::bench::torch
