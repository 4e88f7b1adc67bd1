#include "backend/ir/fold.h"

#include <optional>

#include "frontend/algebra/support/refusal.h"

namespace lay::ir {
namespace {

using F = ElementFunction;

// The integer that an operand is, if it is a literal or a size.
std::optional<Int> integer(const Expr& expr) {
  if (const auto* size = std::get_if<Size>(&expr.node)) return size->value;
  if (const auto* constant = std::get_if<Constant>(&expr.node)) {
    if (const auto* value = std::get_if<std::int64_t>(&constant->value)) return Int(*value);
  }
  return std::nullopt;
}

bool is(const std::optional<Int>& value, std::int64_t literal) {
  return value && value->is(literal);
}

Expr expression(const Int& value, ElementType type) {
  if (value.is_literal()) return {Constant{value.value()}, type};
  return {Size{value}, type};
}

Folded truth(bool value) {
  return Expr{Constant{std::int64_t{value}}, ElementType::pred};
}

// Division is folded for positive literal divisors and non-negative literals or sizes, where
// flooring is what every machine does.
bool divides_safely(const Int& a, const Int& b) {
  return b.is_literal() && b.value() > 0 && (!a.is_literal() || a.value() >= 0);
}

std::optional<Int> compute(F function, const Int& a, const Int& b) {
  switch (function) {
    case F::add:
      return a + b;
    case F::sub:
      return a - b;
    case F::mul:
      return a * b;
    case F::min:
    case F::min_nan:
      return min(a, b);
    case F::max:
    case F::max_nan:
      return max(a, b);
    case F::div:
      return divides_safely(a, b) ? std::optional(floor_div(a, b)) : std::nullopt;
    case F::rem:
      return divides_safely(a, b) ? std::optional(mod(a, b)) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<bool> compare(F function, std::int64_t a, std::int64_t b) {
  switch (function) {
    case F::lt:
      return a < b;
    case F::le:
      return a <= b;
    case F::gt:
      return a > b;
    case F::ge:
      return a >= b;
    case F::eq:
      return a == b;
    case F::ne:
      return a != b;
    default:
      return std::nullopt;
  }
}

Folded both_known(F function, const Int& a, const Int& b, ElementType type) {
  if (a.is_literal() && b.is_literal()) {
    if (const auto result = compare(function, a.value(), b.value())) return truth(*result);
  }
  try {
    const std::optional<Int> result = compute(function, a, b);
    if (!result || (result->is_literal() && !fits(result->value(), type))) return NotFolded{};
    return expression(*result, type);
  } catch (const Refusal&) {
    return NotFolded{};  // it does not fit 64 bits
  }
}

Folded integers(F function, const std::optional<Int>& a, const std::optional<Int>& b,
                ElementType type) {
  if (a && b) return both_known(function, *a, *b, type);
  if ((function == F::add || function == F::sub) && is(b, 0)) return IsOperand{0};
  if (function == F::add && is(a, 0)) return IsOperand{1};
  if ((function == F::mul || function == F::div) && is(b, 1)) return IsOperand{0};
  if (function == F::mul && is(a, 1)) return IsOperand{1};
  if (function == F::mul && (is(a, 0) || is(b, 0))) return expression(0, type);
  if (function == F::rem && is(b, 1)) return expression(0, type);
  return NotFolded{};
}

Folded logic(F function, const std::optional<Int>& a, const std::optional<Int>& b) {
  const std::int64_t neutral = function == F::and_ ? 1 : 0;
  if (is(a, neutral)) return IsOperand{1};
  if (is(b, neutral)) return IsOperand{0};
  if (is(a, 1 - neutral)) return truth(neutral == 0);
  return NotFolded{};
}

}  // namespace

bool fits(std::int64_t value, ElementType type) {
  if (type == ElementType::pred) return value == 0 || value == 1;
  const int width = bits(type);
  if (width >= 64) return is_signed(type) || value >= 0;
  if (!is_signed(type)) return value >= 0 && value < (std::int64_t{1} << width);
  const std::int64_t half = std::int64_t{1} << (width - 1);
  return value >= -half && value < half;
}

Folded fold(F function, std::span<const Expr* const> operands) {
  const auto operand = [&](size_t i) {
    return i < operands.size() ? integer(*operands[i]) : std::nullopt;
  };
  const std::optional<Int> a = operand(0), b = operand(1);
  const ElementType type = operands[0]->type;
  if (function == F::select) {
    if (is(a, 1)) return IsOperand{1};
    if (is(a, 0)) return IsOperand{2};
    return NotFolded{};
  }
  if (function == F::not_ && a && a->is_literal()) return truth(a->is(0));
  if (function == F::and_ || function == F::or_) return logic(function, a, b);
  if (operands.size() == 2 && !is_float(type)) return integers(function, a, b, type);
  return NotFolded{};
}

}  // namespace lay::ir
