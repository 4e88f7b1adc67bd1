#include "runtime/bench/problem/element_value.h"

#include <cmath>
#include <utility>

#include "frontend/algebra/support/overloaded.h"
#include "frontend/sema/kernel/element_arithmetic.h"

namespace lay::bench {

using sema::NodeId;

double unit_roundoff(ElementType type) {
  switch (type) {
    case ElementType::f64:
      return 0x1p-53;
    case ElementType::f32:
      return 0x1p-24;
    case ElementType::tf32:
    case ElementType::f16:
      return 0x1p-11;
    case ElementType::bf16:
      return 0x1p-8;
    case ElementType::e4m3:
    case ElementType::e2m3:
      return 0x1p-4;
    case ElementType::e5m2:
    case ElementType::e3m2:
      return 0x1p-3;
    case ElementType::e2m1:
      return 0x1p-2;
    default:
      return 0;
  }
}

ElementValue::ElementValue(const Problem& problem, Leaves leaves)
    : problem_(problem), leaves_(std::move(leaves)) {}

namespace {

// Returns the error that a step itself adds. `x` is its first operand.
double own_error(ElementFunction function, ElementType type, double x, double result) {
  constexpr double least_normal = 0x1p-126;
  const double u = unit_roundoff(type);
  if (type == ElementType::f32 && function == ElementFunction::sigmoid)
    return (7 + 1.3 * std::abs(x)) * std::abs(result) * u + least_normal;
  if (type == ElementType::f32 && function == ElementFunction::normcdf) return 4 * u;
  const double units =
      function == ElementFunction::sigmoid || function == ElementFunction::normcdf ? 16 : 4;
  return units * std::abs(result) * u;
}

}  // namespace

Bounded ElementValue::of(NodeId node, const std::vector<std::int64_t>& at) {
  at_ = &at;
  return value(node);
}

Bounded ElementValue::value(NodeId id) {
  const sema::Node& node = problem_.kernel->nodes[static_cast<std::size_t>(id)];
  return std::visit(
      overloaded{
          [](const sema::Literal& literal) {
            return Bounded{std::visit([](auto x) { return static_cast<double>(x); }, literal.value),
                           0};
          },
          [&](const sema::IndexValue& index) {
            return Bounded{static_cast<double>((*at_)[static_cast<std::size_t>(index.index)]), 0};
          },
          [&](const sema::SizeValue& size) {
            return Bounded{static_cast<double>(size.value.evaluate(problem_.sizes).value_or(0)), 0};
          },
          [&](const sema::ScalarValue& scalar) {
            return Bounded{problem_.real(scalar.scalar), 0};
          },
          [&](const sema::Load& load) {
            std::vector<std::int64_t> coordinate;
            for (const NodeId each : load.coordinate)
              coordinate.push_back(static_cast<std::int64_t>(value(each).value));
            return Bounded{leaves_.load(load, coordinate), 0};
          },
          [&](const sema::Reduce&) { return leaves_.contraction(id, *at_); },
          [&](const sema::Apply& each) { return apply(each, node); },
      },
      node.what);
}

Bounded ElementValue::apply(const sema::Apply& apply, const sema::Node& node) {
  using enum ElementFunction;
  const auto& operands = apply.operands;
  const auto truth = [](bool is) { return Bounded{static_cast<double>(is), 0}; };
  const auto holds = [&](std::size_t i) { return value(operands[i]).value != 0; };
  switch (apply.function) {
    case select:
      return value(holds(0) ? operands[1] : operands[2]);
    case and_:
      return truth(holds(0) && holds(1));
    case or_:
      return truth(holds(0) || holds(1));
    case not_:
      return truth(!holds(0));
    case cast: {
      const Bounded from = value(operands[0]);
      if (!is_float(node.type)) return {std::nearbyint(from.value), from.error};
      return {from.value,
              from.error + std::abs(from.value) * std::max(unit_roundoff(node.type), 0x1p-53)};
    }
    default:
      break;
  }
  const ElementType type = problem_.kernel->nodes[static_cast<std::size_t>(operands[0])].type;
  std::vector<Bounded> given;
  sema::Operands numbers{};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    given.push_back(value(operands[i]));
    const double number = given.back().value;
    numbers.at(i) = is_float(type) ? sema::Computed{number, 0}
                                   : sema::Computed{0, static_cast<std::int64_t>(number)};
  }
  if (!is_float(type))
    return {static_cast<double>(sema::on_integers(apply.function, node.type, numbers).integer), 0};
  if (!is_float(node.type))
    return truth(sema::on_reals(apply.function, node.type, numbers).integer != 0);
  const auto computed = [&] {
    return sema::on_reals(apply.function, ElementType::f64, numbers).real;
  };
  Bounded result{computed(), 0};
  // Each operand is moved up and down by its own error; the larger change of the result counts.
  // 1 / x near x = 1 with an error e becomes e / (1 - e).
  for (std::size_t i = 0; i < given.size(); ++i) {
    double most = 0;
    for (const double by : {given[i].error, -given[i].error}) {
      numbers[i].real = given[i].value + by;
      most = std::max(most, std::abs(computed() - result.value));
    }
    numbers[i].real = given[i].value;
    result.error += most;
  }
  result.error += own_error(apply.function, node.type, given[0].value, result.value);
  return result;
}

}  // namespace lay::bench
