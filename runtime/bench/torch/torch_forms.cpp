#include "runtime/bench/torch/torch_forms.h"

#include <algorithm>
#include <cmath>

#include "backend/plan/recognise.h"
#include "frontend/algebra/support/overloaded.h"

namespace lay::bench {

using enum ElementFunction;
using sema::IndexId;
using sema::NodeId;
using sema::Reduce;
using sema::ReduceFunction;

TorchForms::TorchForms(const Problem& problem) : problem_(problem), kernel_(*problem.kernel) {
  for (const sema::Node& node : kernel_.nodes) {
    std::set<IndexId> made;
    if (const auto* index = std::get_if<sema::IndexValue>(&node.what)) made.insert(index->index);
    for (const NodeId operand : plan::operands(node))
      made.insert(free_indices(operand).begin(), free_indices(operand).end());
    if (const auto* reduce = std::get_if<Reduce>(&node.what))
      for (const IndexId index : reduce->indices) made.erase(index);
    free_.push_back(std::move(made));
  }
}

NodeId TorchForms::under_casts(NodeId id) const {
  return sema::without_casts(kernel_, id);
}

std::optional<double> TorchForms::number(NodeId id) const {
  const auto real = [](auto x) { return static_cast<double>(x); };
  const auto& what = kernel_.node(under_casts(id)).what;
  if (const auto* literal = std::get_if<sema::Literal>(&what))
    return std::visit(real, literal->value);
  if (const auto* scalar = std::get_if<sema::ScalarValue>(&what))
    return problem_.real(scalar->scalar);
  if (const auto* size = std::get_if<sema::SizeValue>(&what))
    if (const auto known = size->value.evaluate(problem_.sizes)) return real(*known);
  return std::nullopt;
}

bool TorchForms::same(NodeId a, NodeId b, const Renamed& renamed) const {
  const auto renames = [&](IndexId index) { return renamed.contains(index); };
  const auto& free = free_indices(a);
  if (a == b && std::none_of(free.begin(), free.end(), renames)) return true;
  const sema::Node &x = kernel_.node(a), &y = kernel_.node(b);
  if (x.type != y.type || x.what.index() != y.what.index()) return false;
  const auto all_same = [&](const std::vector<NodeId>& these, const std::vector<NodeId>& those,
                            const Renamed& names) {
    return std::equal(these.begin(), these.end(), those.begin(), those.end(),
                      [&](NodeId left, NodeId right) { return same(left, right, names); });
  };
  return std::visit(
      overloaded{
          [&](const sema::Literal& literal) {
            return literal.value == std::get<sema::Literal>(y.what).value;
          },
          [&](const sema::IndexValue& index) {
            const IndexId named = renames(index.index) ? renamed.at(index.index) : index.index;
            return named == std::get<sema::IndexValue>(y.what).index;
          },
          [&](const sema::SizeValue&) { return number(a) && number(a) == number(b); },
          [&](const sema::ScalarValue& scalar) {
            return scalar.scalar == std::get<sema::ScalarValue>(y.what).scalar;
          },
          [&](const sema::Load& load) {
            const auto& other = std::get<sema::Load>(y.what);
            return load.tensor == other.tensor &&
                   all_same(load.coordinate, other.coordinate, renamed);
          },
          [&](const Reduce& reduce) {
            const auto& other = std::get<Reduce>(y.what);
            if (reduce.function != other.function || reduce.indices.size() != other.indices.size())
              return false;
            Renamed within = renamed;
            for (std::size_t i = 0; i < reduce.indices.size(); ++i) {
              if (problem_.extent(reduce.indices[i]) != problem_.extent(other.indices[i]))
                return false;
              within[reduce.indices[i]] = other.indices[i];
            }
            return same(reduce.body, other.body, within);
          },
          [&](const sema::Apply& apply) {
            const auto& other = std::get<sema::Apply>(y.what);
            if (apply.function != other.function) return false;
            if (all_same(apply.operands, other.operands, renamed)) return true;
            if (apply.function != add && apply.function != mul) return false;
            return all_same(apply.operands, {other.operands[1], other.operands[0]}, renamed);
          },
      },
      x.what);
}

const std::vector<NodeId>* TorchForms::operands(NodeId id, ElementFunction function) const {
  const auto* apply = std::get_if<sema::Apply>(&kernel_.node(under_casts(id)).what);
  return apply && apply->function == function ? &apply->operands : nullptr;
}

const Reduce* TorchForms::reduction(NodeId id, ReduceFunction function) const {
  const auto* reduce = std::get_if<Reduce>(&kernel_.node(under_casts(id)).what);
  return reduce && reduce->function == function ? reduce : nullptr;
}

const sema::Load* TorchForms::load(NodeId id) const {
  return std::get_if<sema::Load>(&kernel_.node(under_casts(id)).what);
}

std::vector<NodeId> TorchForms::multiplied(NodeId id) const {
  const NodeId bare = under_casts(id);
  const auto* product = operands(bare, mul);
  // A cast to another type rounds the product.
  if (!product || kernel_.node(bare).type != kernel_.node(id).type) return {id};
  std::vector<NodeId> factors;
  for (const NodeId operand : *product)
    for (const NodeId factor : multiplied(operand)) factors.push_back(factor);
  return factors;
}

bool TorchForms::is_maximum_of(NodeId id, NodeId x, IndexId axis) const {
  const Reduce* maximum = reduction(id, ReduceFunction::max);
  return maximum && maximum->indices.size() == 1 &&
         problem_.extent(maximum->indices[0]) == problem_.extent(axis) &&
         same(maximum->body, x, {{maximum->indices[0], axis}});
}

std::optional<SoftmaxForm> TorchForms::softmax(NodeId id) const {
  const auto* quotient = operands(id, div);
  if (!quotient) return std::nullopt;
  const NodeId above = (*quotient)[0], below = (*quotient)[1];
  const auto* exponent = operands(above, exp);
  const Reduce* sum = reduction(below, ReduceFunction::sum);
  if (!exponent || !sum || sum->indices.size() != 1) return std::nullopt;
  for (const IndexId axis : free_indices(above)) {
    if (free_indices(below).contains(axis) ||
        problem_.extent(axis) != problem_.extent(sum->indices[0]) ||
        !same(sum->body, above, {{sum->indices[0], axis}}))
      continue;
    const NodeId x = (*exponent)[0];
    const auto* difference = operands(x, sub);
    if (difference && is_maximum_of((*difference)[1], (*difference)[0], axis))
      return SoftmaxForm{(*difference)[0], axis};
    return SoftmaxForm{x, axis};
  }
  return std::nullopt;
}

std::optional<LogSumExpForm> TorchForms::log_sum_exp(NodeId id) const {
  const auto exponent_of = [&](NodeId logarithm) -> std::optional<LogSumExpForm> {
    const auto* of = operands(logarithm, log);
    const Reduce* sum = of ? reduction((*of)[0], ReduceFunction::sum) : nullptr;
    const auto* exponent = sum ? operands(sum->body, exp) : nullptr;
    if (!exponent) return std::nullopt;
    return LogSumExpForm{(*exponent)[0], sum->indices};
  };
  if (auto plain = exponent_of(id)) return plain;
  const auto* sum = operands(id, add);
  if (!sum) return std::nullopt;
  for (const int first : {0, 1}) {
    const NodeId maximum = (*sum)[static_cast<std::size_t>(first)];
    auto form = exponent_of((*sum)[static_cast<std::size_t>(1 - first)]);
    if (!form || form->indices.size() != 1) continue;
    const auto* difference = operands(form->x, sub);
    if (!difference || !same((*difference)[1], maximum) ||
        !is_maximum_of(maximum, (*difference)[0], form->indices[0]))
      continue;
    form->x = (*difference)[0];
    return form;
  }
  return std::nullopt;
}

const Reduce* TorchForms::mean(NodeId id) const {
  const auto* quotient = operands(id, div);
  const Reduce* sum = quotient ? reduction((*quotient)[0], ReduceFunction::sum) : nullptr;
  if (!sum || sum->indices.size() != 1) return nullptr;
  const auto count = number((*quotient)[1]);
  return count && *count == static_cast<double>(problem_.extent(sum->indices[0])) ? sum : nullptr;
}

bool TorchForms::is_mean_of(NodeId id, NodeId x, IndexId axis) const {
  const Reduce* sum = mean(id);
  return sum && problem_.extent(sum->indices[0]) == problem_.extent(axis) &&
         same(sum->body, x, {{sum->indices[0], axis}});
}

bool TorchForms::is_mean_square_of(NodeId id, NodeId x, IndexId axis) const {
  const Reduce* sum = mean(id);
  const auto* square = sum ? operands(sum->body, mul) : nullptr;
  if (!square || problem_.extent(sum->indices[0]) != problem_.extent(axis)) return false;
  const Renamed renamed{{sum->indices[0], axis}};
  return same((*square)[0], x, renamed) && same((*square)[1], x, renamed);
}

bool TorchForms::is_load_at(NodeId id, IndexId axis) const {
  const auto* load = std::get_if<sema::Load>(&kernel_.node(under_casts(id)).what);
  return load && load->coordinate.size() == 1 &&
         plan::bare_index(kernel_, load->coordinate[0]) == axis;
}

void TorchForms::factors_of(NodeId id, bool below, std::vector<NodeId>& above_line,
                            std::vector<NodeId>& below_line) const {
  if (const auto* product = operands(id, mul)) {
    for (const NodeId each : *product) factors_of(each, below, above_line, below_line);
  } else if (const auto* quotient = operands(id, div); quotient && !mean(id)) {
    factors_of((*quotient)[0], below, above_line, below_line);
    factors_of((*quotient)[1], !below, above_line, below_line);
  } else if (number(id) != 1.0) {
    (below ? below_line : above_line).push_back(id);
  }
}

std::optional<NormForm> TorchForms::norm_of(const std::vector<NodeId>& factors,
                                            NodeId squares) const {
  if (factors.empty() || factors.size() > 2) return std::nullopt;
  NormForm form;
  // mean square + eps
  if (const auto* sum = operands(squares, add))
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
      if (const auto epsilon = number((*sum)[i])) {
        form.epsilon = *epsilon;
        squares = (*sum)[1 - i];
        break;
      }
  for (std::size_t i = 0; i < factors.size(); ++i) {
    form.x = factors[i];
    for (const IndexId axis : free_indices(form.x)) {
      if (free_indices(squares).contains(axis)) continue;
      if (factors.size() == 2 && !is_load_at(factors[1 - i], axis)) continue;
      form.axis = axis;
      form.weight = factors.size() == 2 ? factors[1 - i] : -1;
      const auto* centred = operands(form.x, sub);
      const bool is_centred = centred && is_mean_of((*centred)[1], (*centred)[0], axis);
      bool found = is_mean_square_of(squares, form.x, axis);
      // The variance may also be written mean[k](x * x) - mean * mean.
      const auto* variance = operands(squares, sub);
      const auto* square = variance ? operands((*variance)[1], mul) : nullptr;
      if (!found && is_centred && square)
        found = is_mean_square_of((*variance)[0], (*centred)[0], axis) &&
                same((*square)[0], (*centred)[1]) && same((*square)[1], (*centred)[1]);
      if (!found) continue;
      form.is_layer_norm = is_centred;
      if (is_centred) form.x = (*centred)[0];
      return form;
    }
  }
  return std::nullopt;
}

std::optional<NormForm> TorchForms::norm(NodeId id) const {
  std::vector<NodeId> above, below;
  factors_of(id, false, above, below);
  for (std::vector<NodeId>* part : {&above, &below})
    for (const NodeId each : *part) {
      const auto* root = operands(each, part == &above ? rsqrt : sqrt);
      if (!root || below.size() != (part == &above ? 0 : 1)) continue;
      std::vector<NodeId> factors = above;
      std::erase(factors, each);
      if (const auto form = norm_of(factors, (*root)[0])) return form;
    }
  const auto* sum = operands(id, add);
  if (!sum) return std::nullopt;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    auto form = norm((*sum)[i]);
    if (!form || !form->is_layer_norm || form->bias >= 0 || !is_load_at((*sum)[1 - i], form->axis))
      continue;
    form->bias = (*sum)[1 - i];
    return form;
  }
  return std::nullopt;
}

std::optional<ActivationForm> TorchForms::activation(NodeId id) const {
  using Kind = ActivationForm::Kind;
  if (const auto* greater = operands(id, max))
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
      if (number((*greater)[i]) == 0.0) return ActivationForm{Kind::relu, (*greater)[1 - i]};
  const auto* product = operands(id, mul);
  if (!product) return std::nullopt;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const NodeId x = (*product)[i], other = (*product)[1 - i];
    if (const auto* of = operands(other, normcdf); of && same((*of)[0], x))
      return ActivationForm{Kind::gelu, x};
    const auto* of = operands(other, sigmoid);
    if (!of) continue;
    if (same((*of)[0], x)) return ActivationForm{Kind::silu, x};
    // x * sigmoid(x * (a + b * x * x)), of the prelude
    constexpr double a = 1.5957691216057308, b = 0.07135481627260025;
    std::vector<NodeId> above, below;
    factors_of((*of)[0], false, above, below);
    if (above.size() != 2 || !below.empty()) continue;
    for (const std::size_t j : {std::size_t{0}, std::size_t{1}}) {
      const auto* sum = operands(above[1 - j], add);
      if (!same(above[j], x) || !sum) continue;
      for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
        std::vector<NodeId> cube, none;
        factors_of((*sum)[1 - k], false, cube, none);
        const auto is_x = [&](NodeId each) { return same(each, x); };
        const auto is_b = [&](NodeId each) { return number(each) == b; };
        if (number((*sum)[k]) == a && none.empty() && cube.size() == 3 &&
            std::count_if(cube.begin(), cube.end(), is_x) == 2 &&
            std::count_if(cube.begin(), cube.end(), is_b) == 1)
          return ActivationForm{Kind::gelu_tanh, x};
      }
    }
  }
  return std::nullopt;
}

}  // namespace lay::bench
