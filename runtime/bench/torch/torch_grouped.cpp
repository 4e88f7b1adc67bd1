#include "runtime/bench/torch/torch_grouped.h"

#include "backend/plan/recognise.h"
#include "runtime/bench/problem/segments.h"
#include "runtime/bench/torch/torch_writer.h"

namespace lay::bench {

using sema::IndexId;
using sema::NodeId;
using sema::Reduce;

namespace {

// Returns the mode whose coordinate is an index; -1 if there is none.
int mode_of(const sema::Kernel& kernel, const sema::Load& load, IndexId index) {
  for (std::size_t mode = 0; mode < load.coordinate.size(); ++mode)
    if (plan::bare_index(kernel, load.coordinate[mode]) == index) return static_cast<int>(mode);
  return -1;
}

const Tensor& tensor_of(const Problem& problem, sema::TensorId id) {
  return problem.tensors[static_cast<std::size_t>(id)];
}

// Returns whether a bare coordinate runs over its whole mode.
bool is_whole(const Problem& problem, const sema::Load& load, std::size_t mode) {
  const IndexId index = plan::bare_index(*problem.kernel, load.coordinate[mode]);
  return index >= 0 && problem.extent(index) == tensor_of(problem, load.tensor).modes[mode].size;
}

// Finds the group that a coordinate of the weights is: of the rows `row`.
bool find_groups(const Problem& problem, const TorchForms& forms, NodeId coordinate,
                 GroupedForm& form) {
  const sema::Kernel& kernel = *problem.kernel;
  if (const auto segment = segment_of(kernel, coordinate)) {
    form.groups = segment->starts;
    form.are_starts = true;
    return plan::bare_index(kernel, segment->position) == form.row;
  }
  const sema::Load* load = forms.load(coordinate);
  if (!load || load->coordinate.size() != 1 || !is_whole(problem, *load, 0)) return false;
  form.groups = load->tensor;
  return plan::bare_index(kernel, load->coordinate[0]) == form.row;
}

}  // namespace

std::optional<GroupedForm> grouped_form(const Problem& problem, const TorchForms& forms,
                                        const Reduce& sum) {
  const sema::Kernel& kernel = *problem.kernel;
  if (sum.function != sema::ReduceFunction::sum || sum.indices.size() != 1) return std::nullopt;
  const auto factors = forms.multiplied(sum.body);
  if (factors.size() != 2) return std::nullopt;
  const IndexId k = sum.indices[0];
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    GroupedForm form;
    form.rows = forms.load(factors[i]), form.weights = forms.load(factors[1 - i]);
    if (!form.rows || !form.weights || form.rows->coordinate.size() != 2 ||
        form.weights->coordinate.size() != 3)
      continue;
    const int of_k = mode_of(kernel, *form.rows, k);
    if (of_k < 0 || !is_whole(problem, *form.rows, 0) || !is_whole(problem, *form.rows, 1))
      continue;
    form.rows_modes = {1 - of_k, of_k};
    form.row = plan::bare_index(kernel, form.rows->coordinate[static_cast<std::size_t>(1 - of_k)]);
    const int weights_k = mode_of(kernel, *form.weights, k);
    int group = -1, column = -1;
    for (int mode = 0; mode < 3; ++mode) {
      const NodeId coordinate = form.weights->coordinate[static_cast<std::size_t>(mode)];
      if (plan::bare_index(kernel, coordinate) < 0)
        group = mode;
      else if (mode != weights_k &&
               is_whole(problem, *form.weights, static_cast<std::size_t>(mode)))
        column = mode;
    }
    if (weights_k < 0 || group < 0 || column < 0) continue;
    form.weights_modes = {group, weights_k, column};
    form.column =
        plan::bare_index(kernel, form.weights->coordinate[static_cast<std::size_t>(column)]);
    if (form.column != form.row &&
        find_groups(problem, forms, form.weights->coordinate[static_cast<std::size_t>(group)],
                    form))
      return form;
  }
  return std::nullopt;
}

namespace torch {

std::string Writer::group_ends(const GroupedForm& form, std::int64_t groups) {
  const Tensor& starts = tensor_of(problem_, form.groups);
  const std::string name = arranged(form.groups, {0});
  if (starts.modes[0].size == groups + 1 && starts.element == ElementType::s32)
    return name + "[1:]";
  const std::int64_t rows = problem_.extent(form.row);
  return prepared([&] {
           Value made;
           std::string text = name + "[1:" + std::to_string(groups + 1) + "]";
           if (starts.element != ElementType::s32) text += ".to(torch.int32)";
           // The last group ends behind the last row.
           if (starts.modes[0].size == groups)
             text = "F.pad(" + text + ", (0, 1), value=" + std::to_string(rows) + ")";
           made.text = statement(text);
           return made;
         })
      .text;
}

std::optional<Value> Writer::grouped_product(const Reduce& reduce) {
  const auto form = grouped_form(problem_, forms_, reduce);
  if (!form || kernel_.tensor(form->rows->tensor).element != ElementType::bf16 ||
      kernel_.tensor(form->weights->tensor).element != ElementType::bf16)
    return std::nullopt;
  const std::int64_t groups = tensor_of(problem_, form->weights->tensor)
                                  .modes[static_cast<std::size_t>(form->weights_modes[0])]
                                  .size;
  const std::string rows = arranged(form->rows->tensor, form->rows_modes),
                    weights = arranged(form->weights->tensor, form->weights_modes);
  call("torch._grouped_mm");
  const auto product = [&](const std::string& sorted, const std::string& ends) {
    return library_statement("torch._grouped_mm(" + sorted + ", " + weights + ", offs=" + ends +
                             ")");
  };
  Value made;
  if (form->are_starts) {
    made = ordered(product(rows, group_ends(*form, groups)), {form->row, form->column});
  } else {
    // Rows are sorted by their groups, and the results put back.
    const std::string sorted = statement("torch.sort(" + arranged(form->groups, {0}) + ")");
    const std::string each = statement("torch.arange(" + std::to_string(groups) +
                                       ", dtype=" + sorted + ".values.dtype, device=\"cuda\")");
    const std::string ends = statement("torch.searchsorted(" + sorted + ".values, " + each +
                                       ", right=True, out_int32=True)");
    const std::string gathered = statement(rows + "[" + sorted + ".indices]");
    const std::string mixed = product(gathered, ends);
    made = ordered(statement("torch.empty_like(" + mixed + ").index_copy_(0, " + sorted +
                             ".indices, " + mixed + ")"),
                   {form->row, form->column});
  }
  made.type = ElementType::bf16;
  made.is_rounded = true;
  return made;
}

}  // namespace torch

}  // namespace lay::bench
