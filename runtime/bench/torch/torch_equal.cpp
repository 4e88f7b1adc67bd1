// The product of matrices that is as large as a kernel's sum of products: its operands are put into
// matrices before, of one type and contiguous, and its result stays where the product leaves it.
// No copy, conversion or scale is timed. It is what a kernel that reads its operands where they lie
// is held to:
//
//   Y[m,n] = sum[k](X[m,k] * (s[n] * W[n,k]))            W as bf16, times s, before: torch.mm
//   C[i,p,j] = sum[a,b](A[a,i,b] * B[b,p,a,j])           A as (i, ab), B as (pj, ab): torch.mm
#include <algorithm>

#include "runtime/bench/torch/torch_words.h"
#include "runtime/bench/torch/torch_writer.h"

namespace lay::bench::torch {

namespace {

// Returns whether a holds all of b.
bool holds(const std::set<IndexId>& a, const std::set<IndexId>& b) {
  return std::includes(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

std::optional<EqualForm> Writer::equal_form(NodeId id) const {
  EqualForm form;
  const Reduce* sum = nullptr;
  std::vector<NodeId> outside;
  for (const NodeId factor : forms_.multiplied(id)) {
    const Reduce* found = forms_.reduction(factor, sema::ReduceFunction::sum);
    if (found && sum) return std::nullopt;
    if (found)
      sum = found;
    else
      outside.push_back(factor);
  }
  if (!sum) return std::nullopt;
  const std::vector<NodeId> inside = forms_.multiplied(sum->body);
  form.summed = sum->indices;
  // Two factors such that each other one has the indices of one of them.
  for (std::size_t i = 0; i < inside.size(); ++i)
    for (std::size_t j = i + 1; j < inside.size(); ++j) {
      const auto &left = forms_.free_indices(inside[i]), &right = forms_.free_indices(inside[j]);
      const auto is_summed = [&](const std::set<IndexId>& free) {
        return std::all_of(form.summed.begin(), form.summed.end(),
                           [&](IndexId index) { return free.contains(index); });
      };
      if (!is_summed(left) || !is_summed(right) || holds(left, right) || holds(right, left))
        continue;
      form.sides[0] = {inside[i]}, form.sides[1] = {inside[j]};
      std::vector<NodeId> others = outside;
      for (const NodeId each : inside)
        if (each != inside[i] && each != inside[j]) others.push_back(each);
      const bool fits = std::all_of(others.begin(), others.end(), [&](NodeId other) {
        const auto& free = forms_.free_indices(other);
        if (!holds(left, free) && !holds(right, free)) return false;
        form.sides[holds(left, free) ? 0 : 1].push_back(other);
        return true;
      });
      if (fits) return form;
    }
  return std::nullopt;
}

Value Writer::equal_operand(const std::vector<NodeId>& factors, const std::vector<Axes>& groups,
                            ElementType type) {
  return prepared([&] {
    Value made = value(factors[0]);
    if (factors.size() > 1) made = exact(made);
    for (std::size_t i = 1; i < factors.size(); ++i) {
      const Value other = exact(value(factors[i]));
      Value product = made;
      product.text = statement(made.text + " * " + aligned(other, made.axes));
      made = product;
    }
    made = converted(made, type);
    std::vector<std::string> from, extents;
    Axes axes;
    for (const Axes& group : groups) {
      std::int64_t extent = 1;
      for (const IndexId axis : group) {
        from.push_back(places(made, {axis}).at(0));
        axes.push_back(axis);
        extent *= problem_.extent(axis);
      }
      extents.push_back(std::to_string(extent));
    }
    if (axes != made.axes) made.text += ".permute(" + listed(from) + ")";
    if (axes.size() != groups.size()) made.text += ".reshape(" + listed(extents) + ")";
    made.text = statement(made.text + ".contiguous()");
    return made;
  });
}

std::optional<Value> Writer::equal_gemm(NodeId id) {
  const auto form = equal_form(id);
  if (!form) return std::nullopt;
  // One type for both: bf16 (f16) if one has it.
  ElementType type = ElementType::f32;
  for (const ElementType half : {ElementType::f16, ElementType::bf16})
    for (const auto& side : form->sides)
      for (const NodeId factor : side)
        if (const sema::Load* load = forms_.load(factor))
          if (kernel_.tensor(load->tensor).element == half) type = half;
  // The left side is the one of the result's first axis.
  std::set<IndexId> all;
  for (const auto& side : form->sides)
    for (const IndexId index : forms_.free_indices(side[0])) all.insert(index);
  for (const IndexId index : form->summed) all.erase(index);
  const auto has_axis = [&](std::size_t side, IndexId axis) {
    return forms_.free_indices(form->sides[side][0]).contains(axis);
  };
  Axes batch, rows, columns;
  std::size_t left = 2;
  for (const IndexId axis : in_order(all)) {
    const bool shared = has_axis(0, axis) && has_axis(1, axis);
    if (!shared && left == 2) left = has_axis(0, axis) ? 0 : 1;
    (shared ? batch : has_axis(left, axis) ? rows : columns).push_back(axis);
  }
  std::vector<Axes> of_left{rows, form->summed}, of_right{columns, form->summed};
  if (!batch.empty())
    of_left.insert(of_left.begin(), batch), of_right.insert(of_right.begin(), batch);
  const Value a = equal_operand(form->sides[left], of_left, type),
              b = equal_operand(form->sides[1 - left], of_right, type);
  const std::string function = batch.empty() ? "torch.mm" : "torch.bmm";
  call(function);
  std::string name =
      library_statement(function + "(" + a.text + ", " + b.text + (batch.empty() ? ".T)" : ".mT)"));
  Axes axes = batch;
  axes.insert(axes.end(), rows.begin(), rows.end());
  axes.insert(axes.end(), columns.begin(), columns.end());
  std::vector<std::string> extents;
  for (const IndexId axis : axes) extents.push_back(std::to_string(problem_.extent(axis)));
  const std::size_t made_axes =
      (batch.empty() ? 0 : 1) + (rows.empty() ? 0 : 1) + (columns.empty() ? 0 : 1);
  if (made_axes != axes.size()) name = library_statement(name + ".view(" + listed(extents) + ")");
  Value made = ordered(name, axes);
  made.type = type;
  made.wanted = kernel_.node(id).type;
  made.is_rounded = is_half(type);
  made_.is_equal_gemm = true;
  return made;
}

}  // namespace lay::bench::torch
