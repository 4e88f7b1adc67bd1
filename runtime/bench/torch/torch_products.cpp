#include <algorithm>
#include <cctype>

#include "backend/plan/recognise.h"
#include "runtime/bench/torch/torch_words.h"
#include "runtime/bench/torch/torch_writer.h"

namespace lay::bench::torch {

using enum ElementFunction;
using sema::ReduceFunction;

std::optional<ProductSum> Writer::parts_of(NodeId id, const Reduce& reduce) {
  if (reduce.function != ReduceFunction::sum) return std::nullopt;
  const std::vector<NodeId> factors = forms_.multiplied(reduce.body);
  if (factors.size() < 2) return std::nullopt;
  const auto runs_over = [&](NodeId factor) {
    const auto& free = forms_.free_indices(factor);
    return std::any_of(reduce.indices.begin(), reduce.indices.end(),
                       [&](IndexId index) { return free.contains(index); });
  };
  std::set<IndexId> all;
  std::size_t largest = 0;
  std::vector<NodeId> under, beside;
  for (const NodeId factor : factors) {
    (runs_over(factor) ? under : beside).push_back(factor);
    if (!runs_over(factor)) continue;
    const auto& free = forms_.free_indices(factor);
    all.insert(free.begin(), free.end());
    largest = std::max(largest, free.size());
  }
  for (const IndexId index : reduce.indices)
    if (!all.contains(index)) return std::nullopt;
  const bool differ = std::any_of(under.begin(), under.end(), [&](NodeId factor) {
    return forms_.free_indices(factor).size() != all.size();
  });
  if (under.size() < 2 || !differ) return std::nullopt;
  ProductSum made;
  for (const NodeId factor : under) made.under.push_back(value(factor));
  for (const NodeId factor : beside) made.beside.push_back(value(factor));
  // One type for all: bf16 (f16) if one of them is, else the type that they have in common, else
  // the accumulator's.
  std::set<ElementType> types;
  for (const Value& each : made.under) types.insert(stored(each.type));
  made.type = types.size() == 1 ? *types.begin() : kernel_.node(id).type;
  for (const ElementType half : {ElementType::f16, ElementType::bf16})
    if (types.contains(half)) made.type = half;
  ++products_;
  const auto is_tf32 = [&](NodeId factor) {
    for (NodeId at = factor;; at = std::get<sema::Apply>(kernel_.node(at).what).operands[0]) {
      if (kernel_.node(at).type == ElementType::tf32) return true;
      if (at == forms_.under_casts(at)) return false;
    }
  };
  tf32_products_ += std::all_of(under.begin(), under.end(), is_tf32);
  return made;
}

void Writer::merge_factors(ProductSum& parts) {
  if (!is_float(parts.type) || bits(parts.type) <= 8) return;
  auto& factors = parts.under;
  const auto merges = [&](std::size_t narrow, std::size_t wide) {
    return narrow != wide &&
           std::all_of(factors[narrow].axes.begin(), factors[narrow].axes.end(),
                       [&](IndexId axis) { return has(factors[wide].axes, axis); });
  };
  const auto merge_one = [&] {
    for (std::size_t narrow = 0; narrow < factors.size(); ++narrow)
      for (std::size_t wide = 0; wide < factors.size(); ++wide) {
        if (!merges(narrow, wide)) continue;
        Value made = converted(factors[wide], parts.type);
        made.text = statement(made.text + " * " +
                              aligned(converted(factors[narrow], parts.type), made.axes));
        factors[wide] = made;
        factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(narrow));
        made_.copies_operands = true;
        return true;
      }
    return false;
  };
  while (factors.size() > 2 && merge_one()) {
  }
}

std::string Writer::letters(const Axes& axes) {
  std::string text;
  for (const IndexId axis : axes) {
    if (!letters_.contains(axis)) {
      char letter = kernel_.index(axis).name[0];
      const auto is_used = [&](char c) {
        return std::any_of(letters_.begin(), letters_.end(),
                           [&](const auto& each) { return each.second == c; });
      };
      if (!std::isalpha(static_cast<unsigned char>(letter)) || is_used(letter)) letter = 'a';
      while (is_used(letter)) letter = letter == 'z' ? 'A' : static_cast<char>(letter + 1);
      letters_[axis] = letter;
    }
    text += letters_[axis];
  }
  return text;
}

std::optional<MatrixForm> Writer::matrix_form(std::vector<Value>& factors, const Axes& result,
                                              const Reduce& reduce) {
  if (factors.size() != 2) return std::nullopt;
  MatrixForm form;
  // The axis that comes first in the result belongs to the left factor.
  const auto in = [&](std::size_t factor, IndexId axis) { return has(factors[factor].axes, axis); };
  for (const IndexId axis : result) {
    if (in(0, axis) == in(1, axis)) continue;
    form.left = in(0, axis) ? 0 : 1;
    break;
  }
  for (const IndexId axis : result)
    (in(0, axis) && in(1, axis) ? form.batch
     : in(form.left, axis)      ? form.rows
                                : form.columns)
        .push_back(axis);
  for (const IndexId index : reduce.indices) {
    if (!in(0, index) || !in(1, index)) return std::nullopt;
    form.summed.push_back(index);
  }
  if (form.summed.size() != 1 || form.rows.size() != 1 || form.columns.size() > 1 ||
      form.batch.size() > 1)
    return std::nullopt;
  // The orders that PyTorch's functions take and give: batch, rows or columns, what is summed.
  const auto joined = [](const Axes& batch, const Axes& middle, const Axes& last) {
    Axes all = batch;
    all.insert(all.end(), middle.begin(), middle.end());
    all.insert(all.end(), last.begin(), last.end());
    return all;
  };
  if (result != joined(form.batch, form.rows, form.columns)) return std::nullopt;
  const auto fits = [&](const Value& factor, const Axes& own) {
    return factor.axes == joined(form.batch, own, form.summed) ||
           factor.axes == joined(form.batch, form.summed, own);
  };
  Value &left = factors[form.left], &right = factors[1 - form.left];
  if (!fits(left, form.rows) || !fits(right, form.columns)) return std::nullopt;
  const auto transpose = [&](Value& factor, const Axes& own) {
    const Axes wanted = joined(form.batch, own, form.summed);
    if (factor.axes != wanted) factor.text += form.batch.empty() ? ".T" : ".mT";
    factor.axes = wanted;
  };
  transpose(left, form.rows);
  transpose(right, form.columns);
  return form;
}

std::optional<Value> Writer::product_sum(NodeId id, const Reduce& reduce) {
  auto parts = parts_of(id, reduce);
  if (!parts) return std::nullopt;
  const ElementType wanted = kernel_.node(id).type;
  merge_factors(*parts);
  auto& factors = parts->under;
  std::vector<const Value*> all;
  for (const Value& each : factors) all.push_back(&each);
  const Axes axes = united(all);
  Value made;
  made.axes = axes;
  std::erase_if(made.axes, [&](IndexId axis) { return has(reduce.indices, axis); });
  const auto form = matrix_form(factors, made.axes, reduce);
  const bool integers = !is_float(parts->type);
  const bool small_floats = is_float(parts->type) && bits(parts->type) <= 8;
  if (integers || small_floats) {
    auto narrow = narrow_product(*parts, form, made, wanted);
    if (!narrow) {
      // Nothing grows if one factor has all axes.
      if (std::none_of(factors.begin(), factors.end(),
                       [&](const Value& each) { return each.axes == axes; }))
        throw NotInTorch{"PyTorch has no product of " + std::string(element_name(factors[0].type)) +
                         " and " + std::string(element_name(factors[1].type)) + " of this form"};
      return std::nullopt;
    }
    made = *narrow;
  } else {
    for (Value& each : factors) {
      made_.copies_operands = made_.copies_operands || stored(each.type) != stored(parts->type);
      each = converted(each, parts->type);
    }
    made.type = parts->type;
    made.is_rounded = is_half(made.type);
    made.text = statement(product_text(factors, form, made.axes));
    made_.copies_operands = made_.copies_operands || (!form && factors.size() == 2);
  }
  made.wanted = wanted;
  for (Value& each : parts->beside) {
    if (is_number(each, 1)) continue;
    const bool is_narrow =
        made.is_rounded && (each.number || each.type == made.type) && made.type == target_;
    if (!is_narrow) made = exact(made), each = exact(each);
    const std::vector<const Value*> both{&made, &each};
    const Axes united_axes = united(both);
    const std::string text = aligned(made, united_axes) + " * " + aligned(each, united_axes);
    made.axes = united_axes;
    made.text = statement(text);
  }
  return made;
}

std::string Writer::product_text(const std::vector<Value>& factors,
                                 const std::optional<MatrixForm>& form, const Axes& result) {
  if (form) {
    const std::string &left = factors[form->left].text, &right = factors[1 - form->left].text;
    if (form->columns.empty() && form->batch.empty()) {
      call("torch.mv");
      return "torch.mv(" + left + ", " + right + ")";
    }
    if (!form->columns.empty()) {
      const std::string function = form->batch.empty() ? "torch.mm" : "torch.bmm";
      call(function);
      return function + "(" + left + ", " + right + (form->batch.empty() ? ".T)" : ".mT)");
    }
  }
  call("torch.einsum");
  std::string subscripts, texts;
  for (const Value& each : factors) {
    subscripts += (subscripts.empty() ? "" : ",") + letters(each.axes);
    texts += ", " + each.text;
  }
  return "torch.einsum(\"" + subscripts + "->" + letters(result) + "\"" + texts + ")";
}

std::optional<Value> Writer::narrow_product(const ProductSum& parts,
                                            const std::optional<MatrixForm>& form, Value made,
                                            ElementType wanted) {
  if (!form || form->columns.empty() || !form->batch.empty()) return std::nullopt;
  const std::int64_t m = problem_.extent(form->rows[0]), n = problem_.extent(form->columns[0]),
                     k = problem_.extent(form->summed[0]);
  const std::string &left = parts.under[form->left].text, &right = parts.under[1 - form->left].text;
  if (parts.type == ElementType::s8 && wanted == ElementType::s32) {
    constexpr std::int64_t least_rows = 17, multiple = 8;
    if (m < least_rows || k % multiple != 0 || n % multiple != 0) return std::nullopt;
    call("torch._int_mm");
    made.type = ElementType::s32;
    made.text = statement("torch._int_mm(" + left + ", " + right + ".T)");
    return made;
  }
  constexpr std::int64_t multiple = 16;
  if (!is_float(parts.type) || k % multiple != 0 || n % multiple != 0 || m % multiple != 0)
    return std::nullopt;
  call("torch._scaled_mm");
  made_.set_up.insert("one = torch.ones((), device=\"cuda\")");
  // Its outputs are halves or f32.
  made.type = is_half(target_) ? target_ : wanted;
  made.is_rounded = is_half(made.type);
  made.text = statement("torch._scaled_mm(" + left + ", " + right +
                        ".T, scale_a=one, scale_b=one, out_dtype=" + type_text(made.type) +
                        ", use_fast_accum=True)");
  return made;
}

Multiple Writer::multiple(NodeId id) const {
  const NodeId bare = forms_.under_casts(id);
  const auto* product = std::get_if<sema::Apply>(&kernel_.node(bare).what);
  if (product && product->function == mul)
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
      if (const auto number = forms_.number(product->operands[i]))
        return {*number, forms_.under_casts(product->operands[1 - i])};
  return {1, bare};
}

NodeId Writer::taken_branch(NodeId id) {
  const NodeId bare = forms_.under_casts(id);
  const auto* choice = std::get_if<sema::Apply>(&kernel_.node(bare).what);
  if (!choice || choice->function != select) return bare;
  const Value condition = value(choice->operands[0]);
  if (!condition.number) return bare;
  return taken_branch(choice->operands[condition.number->integer != 0 ? 1 : 2]);
}

std::optional<Value> Writer::product_and_bias(const sema::Apply& sum) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const Multiple product = multiple(taken_branch(sum.operands[i])),
                   bias = multiple(taken_branch(sum.operands[1 - i]));
    const auto* reduce = std::get_if<Reduce>(&kernel_.node(product.node).what);
    if (!reduce || known_.contains(product.node) ||
        !std::holds_alternative<sema::Load>(kernel_.node(bias.node).what) ||
        has_own_function(product.node, *reduce))
      continue;
    const int products = products_, tf32_products = tf32_products_;
    auto parts = parts_of(product.node, *reduce);
    if (parts && parts->beside.empty() && is_float(parts->type) && bits(parts->type) > 8) {
      std::vector<const Value*> all;
      for (const Value& each : parts->under) all.push_back(&each);
      Value made;
      made.axes = united(all);
      std::erase_if(made.axes, [&](IndexId axis) { return has(reduce->indices, axis); });
      const auto form = matrix_form(parts->under, made.axes, *reduce);
      const Value added = value(bias.node);
      if (form && form->batch.empty() && form->columns.size() == 1 &&
          (added.axes == form->columns || added.axes == made.axes) &&
          stored(added.type) == parts->type && (!is_half(parts->type) || parts->type == target_)) {
        for (Value& each : parts->under) each = converted(each, parts->type);
        call("torch.addmm");
        made.type = parts->type;
        made.is_rounded = is_half(made.type);
        std::string numbers;
        if (bias.number != 1) numbers += ", beta=" + real_text(bias.number);
        if (product.number != 1) numbers += ", alpha=" + real_text(product.number);
        made.text = statement("torch.addmm(" + added.text + ", " + parts->under[form->left].text +
                              ", " + parts->under[1 - form->left].text + ".T" + numbers + ")");
        return made;
      }
    }
    products_ = products, tf32_products_ = tf32_products;
  }
  return std::nullopt;
}

}  // namespace lay::bench::torch
