// The functions of field mode: exp, log and sqrt with their laws, and fixed ones for the rest.
#include <limits>
#include <stdexcept>
#include <vector>

#include "frontend/algebra/field/number.h"
#include "frontend/algebra/field/residues.h"

namespace lay::field {
namespace {

using F = ElementFunction;

// The powers of an element of a prime's field: p = 2q + 1, so that the squares but 0 and 1 have
// order q modulo p, and likewise r modulo q.
class Powers {
 public:
  Powers(std::uint32_t root, std::uint32_t prime)
      : prime_(prime), order_((prime - 1) / 2), powers_(order_), exponents_(prime, 0) {
    std::uint32_t value = 1;
    const std::uint32_t base = product(root, root, prime);
    for (std::uint32_t e = 0; e < order_; ++e) {
      powers_[e] = value;
      exponents_[value] = e;
      value = product(value, base, prime);
    }
  }

  std::uint32_t power(std::uint32_t exponent) const { return powers_[exponent % order_]; }
  // Returns half the exponent of the square, also for a value that is no square. 0 gives 0.
  std::uint32_t logarithm(std::uint32_t value) const {
    const std::uint32_t twice = exponents_[product(value, value, prime_)];
    return product(twice, (order_ + 1) / 2, order_);
  }

 private:
  std::uint32_t prime_, order_;
  std::vector<std::uint32_t> powers_, exponents_;
};

// The roots are any two that are neither 0 nor 1 nor -1: not small, so that the exp of a small
// integer is none.
const Powers& powers_of_p() {
  static const Powers made(1234577, p);
  return made;
}
const Powers& powers_of_q() {
  static const Powers made(765431, q);
  return made;
}

Number exponential(Number a) {
  if (is_special(a)) return a.bits == minus_infinity.bits ? Number{0} : a;
  const Residues x = residues(a);
  return number({powers_of_p().power(x.of_q), powers_of_q().power(x.of_r), 1});
}

Number logarithm(Number a) {
  if (a.bits == 0) return minus_infinity;
  if (is_special(a)) return a.bits == minus_infinity.bits ? not_a_number : a;
  const Residues x = residues(a);
  // A first residue may be missing here too; the logarithm modulo q then stands alone.
  const std::uint32_t of_p = x.of_p == none ? 0 : powers_of_p().logarithm(x.of_p);
  return number({none, of_p, powers_of_q().logarithm(x.of_q)});
}

// A root where there is one, for every prime is 3 modulo 4; elsewhere the root of -x.
Number square_root(Number a) {
  if (is_special(a)) return a.bits == minus_infinity.bits ? not_a_number : a;
  return by_residue(a, a, [](std::uint32_t x, std::uint32_t, std::uint32_t prime) {
    return power(x, (prime + 1) / 4, prime);
  });
}

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators").
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27) * 0x94d049bb133111ebU;
  return x ^ x >> 31;
}

Number fixed(F function, Number a, Number b) {
  const auto salt = static_cast<std::uint64_t>(function) + 1;
  const std::uint64_t seed = mixed(a.bits + mixed(b.bits + salt));
  const auto residue = [&](std::uint64_t k, std::uint32_t prime) {
    return static_cast<std::uint32_t>(mixed(seed + k) % prime);
  };
  return number({residue(1, p), residue(2, q), residue(3, r)});
}

// The values of a bounded function at -inf, 0 and inf.
struct Limits {
  double at_minus_infinity, at_zero, at_infinity;
};

Number bounded(F function, Number a, Limits limits) {
  if (is_nan(a)) return a;
  if (a.bits == 0) return embed(limits.at_zero);
  if (is_special(a))
    return embed(a.bits == infinity.bits ? limits.at_infinity : limits.at_minus_infinity);
  return fixed(function, a, {0});
}

Number greater(Number a, Number b) {
  return rank(a) < rank(b) ? b : a;
}
Number lesser(Number a, Number b) {
  return rank(b) < rank(a) ? b : a;
}

Number extreme(F function, Number a, Number b) {
  const bool keeps_nan = function == F::max_nan || function == F::min_nan;
  if (is_nan(a)) return keeps_nan ? a : b;
  if (is_nan(b)) return keeps_nan ? b : a;
  return function == F::max || function == F::max_nan ? greater(a, b) : lesser(a, b);
}

// Integers stay; the floor of another number is another number.
Number floor_of(Number a) {
  constexpr std::int64_t integers = std::int64_t{1} << 32;
  if (is_special(a) || (rank(a) < integers && rank(a) > -integers)) return a;
  return fixed(F::floor, a, {0});
}

Number of_one(F function, Number a) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  switch (function) {
    case F::neg:
      return -a;
    case F::abs:
      return is_nan(a) ? a : greater(a, -a);
    case F::exp:
      return exponential(a);
    case F::log:
      return logarithm(a);
    case F::sqrt:
      return square_root(a);
    case F::rsqrt:
      return embed(std::int64_t{1}) / square_root(a);
    case F::tanh:
    case F::erf:
      return bounded(function, a, {-1, 0, 1});
    case F::sigmoid:
    case F::normcdf:
      return bounded(function, a, {0, 0.5, 1});
    case F::sin:
      return bounded(function, a, {nan, 0, nan});
    case F::cos:
      return bounded(function, a, {nan, 1, nan});
    case F::floor:
      return floor_of(a);
    default:
      throw std::logic_error("internal: no function of one number");
  }
}

}  // namespace

Number apply(F function, Number a, Number b, Number c) {
  switch (function) {
    case F::add:
      return a + b;
    case F::sub:
      return a - b;
    case F::mul:
      return a * b;
    case F::div:
      return a / b;
    case F::rem:
      return is_nan(a) || is_nan(b) ? Number{not_a_number} : fixed(function, a, b);
    case F::min:
    case F::max:
    case F::min_nan:
    case F::max_nan:
      return extreme(function, a, b);
    case F::fma:
      return a * b + c;
    case F::exp_fma:
      return exponential(a * b + c);
    default:
      return of_one(function, a);
  }
}

}  // namespace lay::field
