// Element functions on the numbers of the reference: each result is rounded to its type, integers
// of 32 bits and fewer wrap.
#pragma once

#include <array>
#include <cstdint>

#include "frontend/algebra/field/number.h"
#include "frontend/algebra/memory/element.h"

namespace lay::sema {

// A number of a node's type: `integer` for integer and truth types, `real` for floats. In field
// mode the number of a float stands in `integer`, by its bits.
struct Computed {
  double real = 0;
  std::int64_t integer = 0;
};

inline Computed in_field(field::Number number) {
  return {0, static_cast<std::int64_t>(number.bits)};
}
inline field::Number field_number(const Computed& computed) {
  return {static_cast<std::uint64_t>(computed.integer)};
}

// What a function is applied to; 0 where it has fewer operands.
using Operands = std::array<Computed, 3>;

std::int64_t wrapped(ElementType type, std::int64_t x);
double rounded(ElementType type, double x);
// a*b + c, rounded once.
double fused(ElementType type, double a, double b, double c);
std::int64_t fused(ElementType type, std::int64_t a, std::int64_t b, std::int64_t c);

// A function of one number, in f64.
double function_of_f64(ElementFunction f, double x);

// The function of operands that are all floats, or all integers. Refusal "division-by-zero".
Computed on_reals(ElementFunction f, ElementType type, const Operands& v);
Computed on_integers(ElementFunction f, ElementType type, const Operands& v);
// The function of floats in field mode.
Computed on_field(ElementFunction f, const Operands& v);

}  // namespace lay::sema
