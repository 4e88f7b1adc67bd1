#include "runtime/bench/torch/torch_coordinates.h"

#include "frontend/algebra/support/overloaded.h"
#include "frontend/sema/kernel/kernel_walk.h"
#include "runtime/bench/problem/element_value.h"

namespace lay::bench {

using enum ElementFunction;
using sema::IndexId;
using sema::NodeId;

namespace {

AffineNumber sum(const AffineNumber& a, const AffineNumber& b, std::int64_t times_b) {
  AffineNumber made = a;
  made.constant += times_b * b.constant;
  for (const auto& [index, factor] : b.factors) {
    made.factors[index] += times_b * factor;
    if (made.factors[index] == 0) made.factors.erase(index);
  }
  return made;
}

bool is_constant(const AffineNumber& number) {
  return number.factors.empty();
}

std::optional<AffineNumber> applied(const Problem& problem, const sema::Apply& apply) {
  std::vector<AffineNumber> operands;
  for (const NodeId operand : apply.operands) {
    auto number = affine_number(problem, operand);
    if (!number) return std::nullopt;
    operands.push_back(std::move(*number));
  }
  switch (apply.function) {
    case cast:
      return operands[0];
    case neg:
      return sum({}, operands[0], -1);
    case add:
    case sub:
      return sum(operands[0], operands[1], apply.function == add ? 1 : -1);
    case mul:
      for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
        if (is_constant(operands[i])) return sum({}, operands[1 - i], operands[i].constant);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// Evaluates nodes that read no memory and reduce nothing.
double evaluated(const Problem& problem, NodeId node, const std::vector<std::int64_t>& at) {
  const auto no_load = [](const sema::Load&, const std::vector<std::int64_t>&) { return 0.0; };
  const auto no_sum = [](NodeId, const std::vector<std::int64_t>&) { return Bounded{}; };
  return ElementValue(problem, {no_load, no_sum}).of(node, at).value;
}

bool is_arithmetic(const sema::Kernel& kernel, NodeId id) {
  const sema::Node& node = kernel.node(id);
  if (std::holds_alternative<sema::Load>(node.what) ||
      std::holds_alternative<sema::Reduce>(node.what))
    return false;
  for (const NodeId operand : sema::operands(node))
    if (!is_arithmetic(kernel, operand)) return false;
  return true;
}

}  // namespace

std::int64_t AffineNumber::factor(IndexId index) const {
  const auto found = factors.find(index);
  return found == factors.end() ? 0 : found->second;
}

std::optional<AffineNumber> affine_number(const Problem& problem, NodeId id) {
  const sema::Node& node = problem.kernel->node(id);
  using Made = std::optional<AffineNumber>;
  if (is_float(node.type)) return std::nullopt;
  return std::visit(overloaded{
                        [](const sema::Literal& literal) -> Made {
                          const auto* whole = std::get_if<std::int64_t>(&literal.value);
                          return whole ? Made(AffineNumber{*whole, {}}) : std::nullopt;
                        },
                        [](const sema::IndexValue& index) -> Made {
                          return AffineNumber{0, {{index.index, 1}}};
                        },
                        [&](const sema::SizeValue& size) -> Made {
                          const auto value = size.value.evaluate(problem.sizes);
                          return value ? Made(AffineNumber{*value, {}}) : std::nullopt;
                        },
                        [&](const sema::Apply& apply) { return applied(problem, apply); },
                        [](const auto&) -> Made { return std::nullopt; },
                    },
                    node.what);
}

std::optional<std::vector<AffineNumber>> inequalities(const Problem& problem, NodeId condition) {
  const auto* apply = std::get_if<sema::Apply>(&problem.kernel->node(condition).what);
  if (!apply || apply->operands.size() != 2) return std::nullopt;
  if (apply->function == and_) {
    auto left = inequalities(problem, apply->operands[0]);
    const auto right = inequalities(problem, apply->operands[1]);
    if (!left || !right) return std::nullopt;
    left->insert(left->end(), right->begin(), right->end());
    return left;
  }
  const auto a = affine_number(problem, apply->operands[0]),
             b = affine_number(problem, apply->operands[1]);
  if (!a || !b) return std::nullopt;
  const AffineNumber a_less_b = sum(*a, *b, -1), b_less_a = sum(*b, *a, -1);
  const AffineNumber one{1, {}};
  switch (apply->function) {
    case le:
      return std::vector{b_less_a};
    case ge:
      return std::vector{a_less_b};
    case lt:
      return std::vector{sum(b_less_a, one, -1)};
    case gt:
      return std::vector{sum(a_less_b, one, -1)};
    default:
      return std::nullopt;
  }
}

std::optional<std::vector<AffineNumber>> negated(std::vector<AffineNumber> single) {
  if (single.size() != 1) return std::nullopt;
  // Not x >= 0 is -1 - x >= 0.
  return std::vector{sum({-1, {}}, single[0], -1)};
}

std::pair<std::int64_t, std::int64_t> range_of(const Problem& problem, const AffineNumber& number) {
  std::int64_t least = number.constant, most = number.constant;
  for (const auto& [index, factor] : number.factors)
    (factor < 0 ? least : most) += factor * (problem.extent(index) - 1);
  return {least, most};
}

std::optional<Quotient> quotient(const Problem& problem, NodeId node) {
  const sema::Kernel& kernel = *problem.kernel;
  if (const IndexId bare = sema::bare_index(kernel, node); bare >= 0) return Quotient{bare, 1};
  const auto indices = sema::indices_of(kernel, node);
  if (indices.size() != 1 || !is_arithmetic(kernel, node)) return std::nullopt;
  Quotient made{*indices.begin(), problem.extent(*indices.begin())};
  std::vector<std::int64_t> at(kernel.indices.size(), 0);
  const std::int64_t extent = made.divisor;
  for (std::int64_t i = 0; i < extent; ++i) {
    at[static_cast<std::size_t>(made.index)] = i;
    const auto value = static_cast<std::int64_t>(evaluated(problem, node, at));
    if (value == 1 && made.divisor == extent) made.divisor = i;
    if (made.divisor == 0 || value != i / made.divisor) return std::nullopt;
  }
  return made;
}

std::optional<double> constant_value(const Problem& problem, NodeId node) {
  const sema::Kernel& kernel = *problem.kernel;
  if (!sema::indices_of(kernel, node).empty() || !is_arithmetic(kernel, node)) return std::nullopt;
  return evaluated(problem, node, std::vector<std::int64_t>(kernel.indices.size(), 0));
}

}  // namespace lay::bench
