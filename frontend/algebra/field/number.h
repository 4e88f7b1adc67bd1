// The numbers of field mode: exact ones, in place of floating-point ones, so that two ways to
// compute the same value give the same number, and two different values give different ones.
//
//   embed(0.5) + embed(0.5)                        embed(1): every finite double has its number
//   (a + b) + c, a / b, a * (embed(1) / b)         no rounding, so order and rewriting do not
//   matter exp(a + b)                                     exp(a) * exp(b)
//
// A number is three residues, modulo the primes p, q and r, with q dividing p - 1 and r dividing
// q - 1. Sums, products and quotients go residue by residue, so they are those of the integers
// modulo p*q*r, about 2^60. The residues after the first are there for exp: g has order q modulo p,
// and h has order r modulo q, so that
//
//   exp(x) = (g^(x mod q) mod p, h^(x mod r) mod q, 1)
//
// takes sums to products in each residue (Mirage checks tensor programs with two such primes). The
// third residue knows nothing of x: exp of exp still tells arguments apart, exp of that does not.
//
// Laws that hold beside those of a commutative ring:
//
//   a / b       == a * (1 / b); 1 / 0 is 0, residue by residue, so that 1/(a*b) == (1/a)*(1/b)
//   exp(-inf)   == 0, exp(a + b) == exp(a)*exp(b)
//   log(a * b)  == log(a) + log(b), log(exp(a)) == a: of log there are only the last two residues,
//                  and of what is computed from it (the logarithms modulo p and q have orders q, r)
//   sqrt(a * b) == sqrt(a) * sqrt(b), rsqrt(a) == 1 / sqrt(a), sqrt(a)^2 is a or -a in each residue
//   a < b          a total order: of integers below 2^59 their own, else that of the least residues
//                  in size modulo p*q*r; negation turns it round, so that max(-a,-b) == -min(a,b),
//                  and abs(a) is the greater of a and -a
//
// Every other function is fixed, and tells different arguments apart.
//
// Infinities and NaN are as in IEEE 754, but that a finite factor or divisor keeps the sign of an
// infinity unless it is a negative integer, because residues have no sign.
#pragma once

#include <cstdint>
#include <string>

#include "frontend/algebra/memory/element.h"

namespace lay {

// How numbers of floating-point types are computed with: as they are, or in field mode.
enum class Arithmetic : std::uint8_t { ieee, field };

namespace field {

inline constexpr std::uint32_t r = 524171, q = 2 * r + 1, p = 2 * q + 1;

// Three residues, an infinity or NaN in 64 bits; zero is 0. It has no initialiser, because it
// stands in a union.
struct Number {
  std::uint64_t bits;
};

// The number of an integer or of a double; of a finite double m * 2^e it is exact.
Number embed(std::int64_t value);
Number embed(double value);

bool is_nan(Number a);
bool is_infinite(Number a);

Number operator+(Number a, Number b);
Number operator-(Number a, Number b);
Number operator-(Number a);
Number operator*(Number a, Number b);
Number operator/(Number a, Number b);

// Returns true if a and b agree: the same residues, where both have them; NaN agrees with itself.
bool agree(Number a, Number b);
// The comparisons, lt to ne. NaN is unequal to everything.
bool compare(ElementFunction function, Number a, Number b);
// The functions that give a number of their operands' type; fma takes c.
Number apply(ElementFunction function, Number a, Number b = {0}, Number c = {0});

// A cast to an integer type: integers of up to 32 bits keep their value and saturate, anything else
// has a fixed integer of the type.
std::int64_t to_integer(ElementType type, Number a);

// An integer as it is written, or the residues: "-3", "inf", "(17,204,1)", "(_,204,1)".
std::string to_string(Number a);

}  // namespace field
}  // namespace lay
