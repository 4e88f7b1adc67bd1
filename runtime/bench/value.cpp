#include "runtime/bench/value.h"

#include <cmath>
#include <utility>

#include "frontend/algebra/overloaded.h"
#include "frontend/sema/element_arithmetic.h"

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

ElementValue::ElementValue(const Problem& problem, Leaves leaves) : problem_(problem), leaves_(std::move(leaves)) {}

double ElementValue::of(NodeId node, const std::vector<std::int64_t>& at) {
  at_ = &at;
  roundings_ = 0;
  return value(node);
}

double ElementValue::value(NodeId id) {
  const sema::Node& node = problem_.kernel->nodes[static_cast<std::size_t>(id)];
  return std::visit(overloaded{
                        [](const sema::Literal& literal) {
                          return std::visit([](auto x) { return static_cast<double>(x); }, literal.value);
                        },
                        [&](const sema::IndexValue& index) {
                          return static_cast<double>((*at_)[static_cast<std::size_t>(index.index)]);
                        },
                        [&](const sema::SizeValue& size) {
                          return static_cast<double>(size.value.evaluate(problem_.sizes).value_or(0));
                        },
                        [&](const sema::ScalarValue& scalar) { return problem_.real(scalar.scalar); },
                        [&](const sema::Load& load) {
                          std::vector<std::int64_t> coordinate;
                          for (const NodeId each : load.coordinate)
                            coordinate.push_back(static_cast<std::int64_t>(value(each)));
                          return leaves_.load(load, coordinate);
                        },
                        [&](const sema::Contraction&) { return leaves_.contraction(id); },
                        [&](const sema::Apply& each) { return apply(each, node); },
                    },
                    node.what);
}

double ElementValue::apply(const sema::Apply& apply, const sema::Node& node) {
  const auto& operands = apply.operands;
  switch (apply.function) {
    case ElementFunction::select:
      return value(value(operands[0]) != 0 ? operands[1] : operands[2]);
    case ElementFunction::and_:
      return value(operands[0]) != 0 && value(operands[1]) != 0;
    case ElementFunction::or_:
      return value(operands[0]) != 0 || value(operands[1]) != 0;
    case ElementFunction::not_:
      return value(operands[0]) == 0;
    case ElementFunction::cast: {
      const double from = value(operands[0]);
      if (!is_float(node.type)) return std::nearbyint(from);
      roundings_ += std::abs(from) * std::max(unit_roundoff(node.type), 0x1p-53) * 0x1p24;
      return from;
    }
    default:
      break;
  }
  const ElementType type = problem_.kernel->nodes[static_cast<std::size_t>(operands[0])].type;
  std::vector<sema::Computed> numbers;
  for (const NodeId operand : operands) {
    const double number = value(operand);
    numbers.push_back(is_float(type) ? sema::Computed{number, 0}
                                     : sema::Computed{0, static_cast<std::int64_t>(number)});
  }
  if (!is_float(type)) return static_cast<double>(sema::on_integers(apply.function, node.type, numbers).integer);
  const bool truth = !is_float(node.type);
  const auto computed = sema::on_reals(apply.function, truth ? node.type : ElementType::f64, numbers);
  if (truth) return static_cast<double>(computed.integer);
  // An elementary function is good to a few units; a sum may be smaller than what it was made of.
  double magnitude = 4 * std::abs(computed.real);
  for (const sema::Computed& number : numbers)
    if (apply.function == ElementFunction::add || apply.function == ElementFunction::sub)
      magnitude += std::abs(number.real);
  roundings_ += magnitude;
  return computed.real;
}

}  // namespace lay::bench
