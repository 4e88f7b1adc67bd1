// Bounds of integers, with x = lower + x' put in so that products of sizes are compared term by
// term.

#include <algorithm>
#include <mutex>

#include "frontend/algebra/integers/knowledge.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/support/refusal.h"

namespace lay {
namespace {

struct Range {
  std::optional<int64_t> lower, upper;
};

Range range_of(const Knowledge& known, const Atom& atom);

// The symbol x' >= 0 of x = lower + x', one for each atom x, and back from it to x. Atoms live as
// long as the program.
std::map<DimId, const Atom*>& shift_origins() {
  static auto* origins = new std::map<DimId, const Atom*>;
  return *origins;
}

std::mutex& shift_lock() {
  static auto* lock = new std::mutex;
  return *lock;
}

// One symbol for an atom, whatever the bound: x' is x less its lower bound, which is at least 0.
Int shift_symbol(const Atom* atom) {
  static auto* symbols = new std::map<const Atom*, Int>;
  std::lock_guard guard(shift_lock());
  auto [it, fresh] = symbols->try_emplace(atom);
  if (fresh) {
    it->second = Int::dim("d");
    shift_origins()[*it->second.dim_id()] = atom;
  }
  return it->second;
}

const Atom* shifted_from(DimId symbol) {
  std::lock_guard guard(shift_lock());
  const auto found = shift_origins().find(symbol);
  return found == shift_origins().end() ? nullptr : found->second;
}

bool is_product(const Term& term) {
  return term.factors.size() > 1 || (term.factors.size() == 1 && term.factors[0].exponent > 1);
}

// Returns true if putting in lower + d' can help: only where a product is subtracted from
// something, and where the result stays short.
// M*N - M with M, N >= 1: the products alone give no bound, since M*N >= 1 and -M has none. With M
// = 1 + m, N = 1 + n it is m*n + n, whose terms all are at least 0.
bool worth_shifting(const Polynomial& p) {
  int64_t terms = 0;
  bool multiplies = false, subtracts = false;
  for (const Term& term : p.terms) {
    int degree = 0;
    for (const Factor& factor : term.factors) degree += factor.exponent;
    // A product of k shifted factors has 2^k terms.
    if (degree > 8) return false;
    terms += int64_t{1} << degree;
    multiplies |= is_product(term);
    if (term.coefficient < 0 && !term.factors.empty()) subtracts = true;
  }
  return multiplies && subtracts && terms <= 200;
}

// Replaces each factor x by lower + x', and leaves the inside of x as it is.
Int shift(const Knowledge& known, const Polynomial& p) {
  Int sum = 0;
  for (const Term& term : p.terms) {
    Int product = term.coefficient;
    for (const Factor& factor : term.factors) {
      Int value = as_int(*factor.atom);
      const auto lower = range_of(known, *factor.atom).lower;
      if (lower && *lower != 0) value = shift_symbol(factor.atom) + *lower;
      // The product is multiplied out by Int, which also cancels terms against those of others.
      for (int i = 0; i < factor.exponent; ++i) product *= value;
    }
    sum += product;
  }
  return sum;
}

// The least value of a term: a product of factors that are all at least 0, or one factor.
std::optional<int64_t> least(const Knowledge& known, const Term& term) {
  if (term.factors.empty()) return term.coefficient;
  const bool up = term.coefficient > 0;
  // A single factor may be negative: its bound times the coefficient is a bound. For several
  // factors, the least product is that of the least values only where none is below 0.
  const bool alone = term.factors.size() == 1 && term.factors[0].exponent == 1;
  int64_t product = term.coefficient;
  for (const Factor& factor : term.factors) {
    const Range range = range_of(known, *factor.atom);
    if (!alone && (!range.lower || *range.lower < 0)) return std::nullopt;
    // A negative coefficient makes the term least where the factors are greatest.
    const std::optional<int64_t>& bound = up ? range.lower : range.upper;
    if (!bound) return std::nullopt;
    for (int i = 0; i < factor.exponent; ++i) product = checked_mul(product, *bound);
  }
  return product;
}

// The sum of the least values of the terms. They need not be reached together: a bound, not a
// minimum.
std::optional<int64_t> lower_of(const Knowledge& known, const Int& a) {
  if (a.is_literal()) return a.value();
  Polynomial p = a.polynomial();
  const int64_t denominator = p.denominator;
  p.denominator = 1;
  if (worth_shifting(p)) p = as_polynomial(shift(known, p));
  int64_t sum = 0;
  for (const Term& term : p.terms) {
    const auto bound = least(known, term);
    if (!bound) return std::nullopt;
    sum = checked_add(sum, *bound);
  }
  // The value is an integer at least sum/denominator; rounding down is safe.
  return floor_div(Int(sum), Int(denominator)).value();
}

// The greatest value of a is the negative of the least one of -a.
std::optional<int64_t> upper_of(const Knowledge& known, const Int& a) {
  const auto bound = lower_of(known, -a);
  return bound ? std::optional(checked_sub(0, *bound)) : std::nullopt;
}

Range quotient_range(const Knowledge& known, const Atom& atom) {
  // a // b by a symbol b >= 1 and with a >= 0 lies between 0 and a.
  if (!atom.b.is_literal() || atom.b.value() <= 0) {
    const auto above = lower_of(known, atom.a), below = lower_of(known, atom.b);
    if (above && *above >= 0 && below && *below >= 1) return {0, upper_of(known, atom.a)};
    return {};
  }
  Range range{lower_of(known, atom.a), upper_of(known, atom.a)};
  // Floored division by a positive number is monotone.
  if (range.lower) range.lower = floor_div(Int(*range.lower), atom.b).value();
  if (range.upper) range.upper = floor_div(Int(*range.upper), atom.b).value();
  return range;
}

Range range_of(const Knowledge& known, const Atom& atom) {
  if (atom.kind == AtomKind::dim) {
    if (const Atom* origin = shifted_from(atom.id)) {
      const Range range = range_of(known, *origin);
      if (range.lower && range.upper) return {0, checked_sub(*range.upper, *range.lower)};
      return {0, std::nullopt};
    }
    const Knowledge::Bounds bounds = known.bounds_of(atom.id);
    return {bounds.lower, bounds.upper};
  }
  if (atom.kind == AtomKind::floor_div) return quotient_range(known, atom);
  const Range a{lower_of(known, atom.a), upper_of(known, atom.a)},
      b{lower_of(known, atom.b), upper_of(known, atom.b)};
  // Picks the smaller or the greater of two bounds; `either` says that one alone will do.
  //     lower of min(a,b)    min of both lower bounds, both needed
  //     upper of min(a,b)    either upper bound alone bounds it
  //
  // and for max the other way round. A selection may be either of its arms.
  const auto pick = [](std::optional<int64_t> x, std::optional<int64_t> y, bool smaller,
                       bool either) {
    if (!x || !y) return either ? (x ? x : y) : std::optional<int64_t>();
    return std::optional(smaller ? std::min(*x, *y) : std::max(*x, *y));
  };
  if (atom.kind == AtomKind::min)
    return {pick(a.lower, b.lower, true, false), pick(a.upper, b.upper, true, true)};
  if (atom.kind == AtomKind::max)
    return {pick(a.lower, b.lower, false, true), pick(a.upper, b.upper, false, false)};
  return {pick(a.lower, b.lower, true, false), pick(a.upper, b.upper, false, false)};
}

}  // namespace

std::optional<int64_t> lower_bound(const Knowledge& known, const Int& a) {
  try {
    return lower_of(known, a);
  } catch (const Refusal&) {
    return std::nullopt;  // a bound that does not fit 64 bits says nothing
  }
}

}  // namespace lay
