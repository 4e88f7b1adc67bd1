#include "frontend/algebra/field/number.h"

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "frontend/algebra/field/residues.h"
#include "frontend/algebra/memory/convert.h"

namespace lay::field {
namespace {

constexpr std::int64_t all = std::int64_t{p} * q * r;
// Integers of this size are rarely met by chance: a random number is one with probability 2^-27.
constexpr std::int64_t small_integer = std::int64_t{1} << 32;

std::uint32_t residue(std::int64_t value, std::uint32_t prime) {
  const std::int64_t rest = value % std::int64_t{prime};
  return static_cast<std::uint32_t>(rest < 0 ? rest + prime : rest);
}

std::uint32_t inverse(std::uint32_t a, std::uint32_t prime) {
  return power(a, prime - 2, prime);  // Fermat; of 0 it is 0
}

// 2^e for any e: 2^(prime-1) is 1.
std::uint32_t power_of_two(int e, std::uint32_t prime) {
  return power(2, residue(e, prime - 1), prime);
}

bool is_negative_integer(Number a) {
  return rank(a) < 0 && rank(a) > -small_integer;
}

Number with_sign(bool negative) {
  return negative ? minus_infinity : infinity;
}

// a * b where one of them is an infinity.
Number infinite_product(Number a, Number b) {
  if (a.bits == 0 || b.bits == 0) return not_a_number;
  const auto negative = [](Number x) {
    return is_special(x) ? x.bits == minus_infinity.bits : is_negative_integer(x);
  };
  return with_sign(negative(a) != negative(b));
}

bool any_nan(Number a, Number b) {
  return is_nan(a) || is_nan(b);
}

}  // namespace

std::uint32_t power(std::uint32_t a, std::uint32_t exponent, std::uint32_t prime) {
  std::uint32_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = product(result, a, prime);
    a = product(a, a, prime);
  }
  return result;
}

// Garner's mixed radix: x = x_r + r * (u + q * v) with u below q and v below p.
std::int64_t rank(Number a) {
  if (is_special(a)) {
    using Limits = std::numeric_limits<std::int64_t>;
    return a.bits == infinity.bits ? Limits::max() : Limits::min();
  }
  static const std::uint32_t r_in_q = inverse(r, q), rq_in_p = inverse(product(r, q, p), p);
  const Residues x = residues(a);
  const std::uint32_t u = product(residue(std::int64_t{x.of_q} - x.of_r, q), r_in_q, q);
  const std::int64_t low = x.of_r + std::int64_t{r} * u;
  if (x.of_p == none) return low > std::int64_t{q} * r / 2 ? low - std::int64_t{q} * r : low;
  const std::uint32_t v = product(residue(x.of_p - low, p), rq_in_p, p);
  const std::int64_t value = low + std::int64_t{r} * q * v;
  return value > all / 2 ? value - all : value;
}

Number embed(std::int64_t value) {
  return number({residue(value, p), residue(value, q), residue(value, r)});
}

Number embed(double value) {
  if (std::isnan(value)) return not_a_number;
  if (std::isinf(value)) return with_sign(value < 0);
  if (value == 0) return {0};
  int exponent = 0;
  auto significand = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  const int zeros = std::countr_zero(static_cast<std::uint64_t>(significand));
  significand >>= zeros;
  exponent += zeros - 53;
  if (exponent == 0) return embed(significand);
  const Number scale =
      number({power_of_two(exponent, p), power_of_two(exponent, q), power_of_two(exponent, r)});
  return embed(significand) * scale;
}

bool is_nan(Number a) {
  return is_special(a) && !is_infinite(a);
}

bool is_infinite(Number a) {
  return a.bits == infinity.bits || a.bits == minus_infinity.bits;
}

Number operator-(Number a) {
  if (is_nan(a)) return a;
  if (is_special(a)) return with_sign(a.bits == infinity.bits);
  return Number{0} - a;
}

Number operator+(Number a, Number b) {
  if (is_special(a) || is_special(b)) {
    const bool opposed = is_special(a) && is_special(b) && a.bits != b.bits;
    if (any_nan(a, b) || opposed) return not_a_number;
    return is_special(a) ? a : b;
  }
  return by_residue(a, b, [](std::uint32_t x, std::uint32_t y, std::uint32_t prime) {
    return x + y >= prime ? x + y - prime : x + y;
  });
}

Number operator-(Number a, Number b) {
  if (is_special(a) || is_special(b)) return a + -b;
  return by_residue(a, b, [](std::uint32_t x, std::uint32_t y, std::uint32_t prime) {
    return x >= y ? x - y : x + prime - y;
  });
}

Number operator*(Number a, Number b) {
  if (is_special(a) || is_special(b)) return any_nan(a, b) ? not_a_number : infinite_product(a, b);
  return by_residue(a, b, product);
}

Number operator/(Number a, Number b) {
  if (any_nan(a, b) || (is_special(a) && is_special(b))) return not_a_number;
  if (is_special(b)) return {0};
  if (is_special(a)) return with_sign((a.bits == minus_infinity.bits) != is_negative_integer(b));
  return by_residue(a, b, [](std::uint32_t x, std::uint32_t y, std::uint32_t prime) {
    return product(x, inverse(y, prime), prime);
  });
}

bool agree(Number a, Number b) {
  if (is_special(a) || is_special(b)) return a.bits == b.bits;
  const Residues x = residues(a), y = residues(b);
  const bool first = x.of_p == y.of_p || x.of_p == none || y.of_p == none;
  return first && x.of_q == y.of_q && x.of_r == y.of_r;
}

bool compare(ElementFunction function, Number a, Number b) {
  if (any_nan(a, b)) return function == ElementFunction::ne;
  switch (function) {
    case ElementFunction::lt:
      return rank(a) < rank(b);
    case ElementFunction::le:
      return rank(a) <= rank(b);
    case ElementFunction::gt:
      return rank(a) > rank(b);
    case ElementFunction::ge:
      return rank(a) >= rank(b);
    case ElementFunction::eq:
      return agree(a, b);
    case ElementFunction::ne:
      return !agree(a, b);
    default:
      throw std::logic_error("internal: no comparison");
  }
}

std::int64_t to_integer(ElementType type, Number a) {
  if (is_nan(a)) return 0;
  const std::int64_t value = rank(a);
  if (is_special(a) || (value < small_integer && value > -small_integer))
    return saturate(type, value);
  // Any fixed integer of the type: the low bits of the residues, mixed.
  const int unused = 64 - bits(type);
  const auto mixed = (a.bits * 0x9e3779b97f4a7c15U) >> unused << unused;
  return is_signed(type) ? static_cast<std::int64_t>(mixed) >> unused
                         : static_cast<std::int64_t>(mixed >> unused);
}

std::string to_string(Number a) {
  if (is_nan(a)) return "nan";
  if (is_special(a)) return a.bits == infinity.bits ? "inf" : "-inf";
  const Residues x = residues(a);
  const std::int64_t value = rank(a);
  if (x.of_p != none && value < small_integer && value > -small_integer)
    return std::to_string(value);
  return "(" + (x.of_p == none ? "_" : std::to_string(x.of_p)) + "," + std::to_string(x.of_q) +
         "," + std::to_string(x.of_r) + ")";
}

}  // namespace lay::field
