// Inside the field: the three residues of a finite number, one by one.
#pragma once

#include <cstdint>

#include "frontend/algebra/field/number.h"

namespace lay::field {

// A first residue that does not exist (log).
inline constexpr std::uint32_t none = (1U << 21) - 1;
static_assert(p < none && q < none && r < none);

// Bit 63 marks what has no residues.
inline constexpr std::uint64_t special = std::uint64_t{1} << 63;
inline constexpr Number infinity{special | 1}, minus_infinity{special | 2},
    not_a_number{special | 3};

struct Residues {
  std::uint32_t of_p, of_q, of_r;
};

inline bool is_special(Number a) {
  return (a.bits & special) != 0;
}
// Returns the residues of a number that is not special.
inline Residues residues(Number a) {
  const auto part = [&](int shift) { return static_cast<std::uint32_t>(a.bits >> shift) & none; };
  return {part(0), part(21), part(42)};
}
inline Number number(Residues a) {
  return {a.of_p | std::uint64_t{a.of_q} << 21 | std::uint64_t{a.of_r} << 42};
}

// f(residue, residue, prime) of each; there is no first one where an operand has none.
template <class F>
Number by_residue(Number a, Number b, F f) {
  const Residues x = residues(a), y = residues(b);
  return number({x.of_p == none || y.of_p == none ? none : f(x.of_p, y.of_p, p),
                 f(x.of_q, y.of_q, q), f(x.of_r, y.of_r, r)});
}

inline std::uint32_t product(std::uint32_t a, std::uint32_t b, std::uint32_t prime) {
  return static_cast<std::uint32_t>(std::uint64_t{a} * b % prime);
}
std::uint32_t power(std::uint32_t a, std::uint32_t exponent, std::uint32_t prime);

// The number between -p*q*r/2 and p*q*r/2 with these residues (between -q*r/2 and q*r/2 where there
// is no first one): by it numbers are ordered. The infinities are the ends of the type.
std::int64_t rank(Number a);

}  // namespace lay::field
