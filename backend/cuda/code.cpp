#include "backend/cuda/code.h"

#include <limits>
#include <numeric>

namespace lay::cuda {
namespace {

// The folded constant, unless it overflows.
template <class Operation>
std::optional<Code> folded(const Code& a, const Code& b, Operation operation) {
  std::int64_t value = 0;
  if (!a.known || !b.known || operation(*a.known, *b.known, &value)) return std::nullopt;
  Code code = integer(value);
  code.wide = code.wide || a.wide || b.wide;
  return code;
}

bool is(const Code& code, std::int64_t value) {
  return code.known == value;
}

bool is_multiple(const Code& a, const Code& b) {
  return b.known && *b.known > 0 && a.multiple % *b.known == 0;
}

// Marks the code as a multiple of what a and b are both multiples of.
Code with_common(Code code, const Code& a, const Code& b) {
  code.multiple = std::gcd(a.multiple, b.multiple);
  return code;
}

Code integer_operator(Code a, std::string_view op, Code b, Binding binding) {
  const bool wide = a.wide || b.wide;
  drop_widening(a, b);
  Code code = binary(a, op, b, binding);
  code.wide = wide;
  return code;
}

}  // namespace

Code name(std::string_view identifier) {
  return {std::string(identifier), Binding::postfix};
}

Code integer(std::int64_t value) {
  using limits32 = std::numeric_limits<std::int32_t>;
  if (value < limits32::min() || value > limits32::max()) return wide_integer(value);
  // The literal of the least value is out of range before its sign is applied.
  if (value == limits32::min())
    return {"(" + std::to_string(value + 1) + " - 1)", Binding::postfix, false, value};
  return {std::to_string(value), value < 0 ? Binding::unary : Binding::postfix, false, value, {},
          value & -value};
}

Code wide_integer(std::int64_t value) {
  if (value == std::numeric_limits<std::int64_t>::min())
    return {"(" + std::to_string(value + 1) + "LL - 1)", Binding::postfix, true, value};
  return {std::to_string(value) + "LL",
          value < 0 ? Binding::unary : Binding::postfix,
          true,
          value,
          {},
          value & -value};
}

std::string inside(const Code& code, Binding least) {
  return code.binding < least ? "(" + code.text + ")" : code.text;
}

// Readers do not know by heart how && and || mix, nor how shifts and bit operators bind: those get
// parentheses.
Code binary(const Code& left, std::string_view op, const Code& right, Binding binding) {
  Binding least_left = binding, least_right = static_cast<Binding>(static_cast<int>(binding) + 1);
  if (binding == Binding::logical_or || binding == Binding::logical_and) {
    least_left = left.binding == binding ? binding : Binding::equality;
    least_right = Binding::equality;
  } else if (binding == Binding::bit_xor || binding == Binding::bit_and ||
             binding == Binding::shift) {
    least_left = least_right = Binding::unary;
  }
  return {inside(left, least_left) + " " + std::string(op) + " " + inside(right, least_right),
          binding};
}

Code call(std::string_view function, std::string_view arguments) {
  return {std::string(function) + "(" + std::string(arguments) + ")", Binding::postfix};
}

Code sum(const Code& a, const Code& b) {
  if (auto code =
          folded(a, b, [](auto x, auto y, auto* z) { return __builtin_add_overflow(x, y, z); }))
    return *code;
  if (is(a, 0)) return b;
  if (is(b, 0)) return a;
  if (b.known && *b.known < 0 && *b.known != std::numeric_limits<std::int64_t>::min())
    return difference(a, integer(-*b.known));
  // a + (b + c) is a + b + c, except that a long long a would make both additions long.
  if (b.binding == Binding::additive && a.wide == b.wide)
    return with_common({inside(a, Binding::additive) + " + " + b.text, Binding::additive, a.wide},
                       a, b);
  return with_common(integer_operator(a, "+", b, Binding::additive), a, b);
}

Code difference(const Code& a, const Code& b) {
  if (auto code =
          folded(a, b, [](auto x, auto y, auto* z) { return __builtin_sub_overflow(x, y, z); }))
    return *code;
  if (is(b, 0)) return a;
  return with_common(integer_operator(a, "-", b, Binding::additive), a, b);
}

Code product(const Code& a, const Code& b) {
  if (auto code =
          folded(a, b, [](auto x, auto y, auto* z) { return __builtin_mul_overflow(x, y, z); }))
    return *code;
  if (is(a, 0) || is(b, 0)) return integer(0);
  if (is(a, 1)) return b;
  if (is(b, 1)) return a;
  Code code = integer_operator(a, "*", b, Binding::multiplicative);
  if (__builtin_mul_overflow(a.multiple, b.multiple, &code.multiple)) code.multiple = 1;
  return code;
}

Code quotient(const Code& a, const Code& b) {
  if (is(b, 1)) return a;
  if (a.known && b.known && *a.known >= 0 && *b.known > 0) return integer(*a.known / *b.known);
  Code code = integer_operator(a, "/", b, Binding::multiplicative);
  if (is_multiple(a, b)) code.multiple = a.multiple / *b.known;
  return code;
}

Code remainder(const Code& a, const Code& b) {
  if (is(b, 1)) return integer(0);
  if (is_multiple(a, b)) return integer(0);
  if (a.known && b.known && *a.known >= 0 && *b.known > 0) return integer(*a.known % *b.known);
  return integer_operator(a, "%", b, Binding::multiplicative);
}

Code widened(const Code& a) {
  if (a.wide) return a;
  const std::string operand = inside(a, Binding::unary);
  if (a.known) return {a.text, a.binding, true, a.known, {}, a.multiple};
  return {"(long long)" + operand, Binding::unary, true, std::nullopt, operand, a.multiple};
}

void drop_widening(Code& a, Code& b) {
  if (!a.wide || !b.wide) return;
  // A constant does not widen the other side: its literal may be an int.
  if (!b.narrow.empty() && !a.known)
    b = {b.narrow, Binding::unary, false, std::nullopt, {}, b.multiple};
  else if (!a.narrow.empty() && !b.known)
    a = {a.narrow, Binding::unary, false, std::nullopt, {}, a.multiple};
}

}  // namespace lay::cuda
