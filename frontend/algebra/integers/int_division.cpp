#include <algorithm>

#include "frontend/algebra/integers/floor.h"
#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/support/refusal.h"

namespace lay {
namespace {

[[noreturn]] void divided_by_zero(const Int& a) {
  throw refusal("division-by-zero", a.to_string() + " is divided by 0");
}

// r with c = q*k + r and -q/2 < r <= q/2, for q > 0.
// Nearest to 0: floor((7*M)/8) is M + floor(-M/8), whose normal form is that of M - ceil_div(M,8).
int64_t nearest_remainder(int64_t c, int64_t q) {
  const int64_t r = c - q * floor_of(c, q);
  return r > q - r ? r - q : r;
}

// Returns true if the leading term is an odd multiple of q/2 below 0: of the two ways to write it,
// floor(-x/2) is then -floor((x + 1)/2) and not -x + floor(x/2), so that ceilings look alike for
// every divisor.
bool leads_with_negative_half(const Polynomial& rest, int64_t q) {
  for (const Term& term : rest.terms) {
    const int64_t r = nearest_remainder(term.coefficient, q);
    if (r != 0) return r == q - r && term.coefficient < 0;
  }
  return false;
}

// Moves whole multiples of q out of the non-constant terms of `rest` into `whole`.
//     floor((9*M + N + 3)/8)  =  M + floor((M + N + 3)/8)
void pull_multiples(Polynomial& rest, int64_t q, Polynomial& whole) {
  std::vector<Term> kept;
  for (Term& term : rest.terms) {
    const int64_t r =
        term.factors.empty() ? term.coefficient : nearest_remainder(term.coefficient, q);
    if (const int64_t k = (term.coefficient - r) / q; k != 0)
      whole.terms.push_back({k, term.factors});
    if (r != 0) kept.push_back({r, std::move(term.factors)});
  }
  rest.terms = std::move(kept);
}

// The constant term stands last, as terms are sorted by falling degree.
int64_t take_constant(Polynomial& p) {
  if (p.terms.empty() || !p.terms.back().factors.empty()) return 0;
  const int64_t c = p.terms.back().coefficient;
  p.terms.pop_back();
  return c;
}

// floor((rest + c) / q) for a rest without constant term whose leading coefficient is positive.
Int floor_atom(Polynomial rest, int64_t c, int64_t q) {
  //     floor((4*M + 6)/8)  =  floor((2*M + 3)/4)
  //
  // The factor that all coefficients share with the divisor is taken out; the part of the constant
  // that is no multiple of it cannot change the floor.
  int64_t common = q;
  for (const Term& term : rest.terms) common = gcd(common, term.coefficient);
  for (Term& term : rest.terms) term.coefficient /= common;
  q /= common;
  c = floor_of(c, common);
  const Int whole = floor_of(c, q);
  c -= q * floor_of(c, q);
  if (rest.terms.size() == 1 && rest.terms[0].coefficient == 1 &&
      rest.terms[0].factors.size() == 1) {
    const Factor& factor = rest.terms[0].factors[0];
    const Atom& atom = *factor.atom;
    // floor((floor(a/p) + c) / q) is floor((a + p*c) / (p*q)): nested quotients by numbers are one.
    if (factor.exponent == 1 && atom.kind == AtomKind::floor_div && atom.b.is_literal()) {
      return whole + floor_div(atom.a + atom.b * c, atom.b * q);
    }
  }
  if (q == 1) return whole + c + intern(std::move(rest));
  return whole + intern_atom(Atom{
                     AtomKind::floor_div, 0, {}, intern(std::move(rest)) + c, q, nullptr, 0, 1});
}

// floor((rest + c) / q) for a rest without constant term.
Int floor_of_parts(Polynomial rest, int64_t c, int64_t q) {
  Polynomial whole;
  pull_multiples(rest, q, whole);
  if (rest.terms.empty()) return intern(std::move(whole)) + floor_of(c, q);
  // One of rest and -rest has a leading coefficient above 0, and floor(-x/q) is -floor((x +
  // q-1)/q): so each quotient has one form.
  if (rest.terms[0].coefficient > 0)
    return intern(std::move(whole)) + floor_atom(std::move(rest), c, q);
  rest = scale(std::move(rest), -1);
  Polynomial flipped;
  pull_multiples(rest, q, flipped);
  return intern(std::move(whole)) - intern(std::move(flipped)) -
         floor_atom(std::move(rest), checked_add(checked_sub(0, c), q - 1), q);
}

// a/b with a over a denominator d is the numerator over b*d.
Int floor_by_literal(const Int& a, int64_t b) {
  if (b < 0) return floor_by_literal(-a, checked_sub(0, b));
  if (b == 1) return a;
  Polynomial rest = a.polynomial();
  const int64_t q = checked_mul(b, rest.denominator);
  rest.denominator = 1;
  const int64_t c = take_constant(rest);
  if (!leads_with_negative_half(rest, q)) return floor_of_parts(std::move(rest), c, q);
  return -floor_of_parts(scale(std::move(rest), -1), checked_add(checked_sub(0, c), q - 1), q);
}

// a = b*quotient + remainder, quotient with integer coefficients, by repeated division of leading
// terms.
struct Quotient {
  Int quotient;
  Int remainder;
};

Quotient divide_polynomials(const Int& a, const Int& b) {
  const Term& leading = b.polynomial().terms[0];
  Quotient result{0, 0};
  Int rest = a;
  // Long division by the leading term; the limit is for quotients of very many terms.
  for (int step = 0; step < 200 && !rest.is(0); ++step) {
    const Polynomial p = as_polynomial(rest);
    if (p.denominator != 1) break;
    const auto found = std::find_if(p.terms.begin(), p.terms.end(), [&](const Term& term) {
      return term.coefficient % leading.coefficient == 0 &&
             divide_monomial(term, leading).has_value();
    });
    if (found == p.terms.end()) break;
    Term term = *divide_monomial(*found, leading);
    term.coefficient /= leading.coefficient;
    const Int part = intern(Polynomial{1, {std::move(term)}, 0, 0});
    result.quotient += part;
    rest -= part * b;
  }
  result.remainder = rest;
  return result;
}

std::optional<std::vector<Term>> divided_by(const std::vector<Term>& terms, const Atom* atom) {
  std::vector<Term> divided;
  for (const Term& term : terms) {
    auto less = divide_monomial(term, {1, {{atom, 1}}});
    if (!less) return std::nullopt;
    less->coefficient = term.coefficient;
    divided.push_back(std::move(*less));
  }
  return divided;
}

}  // namespace

// M*N - M is N - 1 times M: of a comparison with 0 a positive factor can go.
Polynomial without_common(Polynomial p, const IsPositive& is_positive) {
  if (p.terms.empty()) return p;
  const std::vector<Factor> candidates = p.terms[0].factors;
  for (const Factor& candidate : candidates) {
    auto divided = divided_by(p.terms, candidate.atom);
    if (!divided || !is_positive(as_int(*candidate.atom))) continue;
    for (; divided; divided = divided_by(p.terms, candidate.atom)) p.terms = std::move(*divided);
  }
  return p;
}

//     (6*M*N) / (4*M)  ->  3*N and 2
//
// Exact for quotients that round down as well: floor(c*x / c*y) is floor(x/y) for any c that is not
// 0.
void cancel_common(Int& a, Int& b) {
  Polynomial p = as_polynomial(a), q = as_polynomial(b);
  p = scale(std::move(p), b.polynomial().denominator);
  q = scale(std::move(q), as_polynomial(a).denominator);
  p.denominator = q.denominator = 1;
  int64_t number = 0;
  Term common = q.terms[0];
  for (const Polynomial* side : {&p, &q}) {
    for (const Term& term : side->terms) {
      number = gcd(number, term.coefficient);
      std::vector<Factor> shared;
      for (const Factor& factor : common.factors) {
        for (const Factor& other : term.factors) {
          if (other.atom == factor.atom)
            shared.push_back({factor.atom, std::min(factor.exponent, other.exponent)});
        }
      }
      common.factors = std::move(shared);
    }
  }
  for (Polynomial* side : {&p, &q}) {
    for (Term& term : side->terms) {
      term = *divide_monomial(term, common);
      term.coefficient /= number;
    }
  }
  a = intern(std::move(p));
  b = intern(std::move(q));
}

Int floor_div(const Int& a, const Int& b) {
  if (b.is(0)) divided_by_zero(a);
  if (a.is_literal() && b.is_literal()) return floor_of(a.value(), b.value());
  if (a.is(0)) return 0;
  if (b.is_literal()) return floor_by_literal(a, b.value());
  Int above = a, below = b;
  cancel_common(above, below);
  if (below.is_literal()) return floor_div(above, below);
  //     floor((M*N + 3) / N)  =  M + floor(3/N)
  const Quotient split = divide_polynomials(above, below);
  if (split.remainder.is(0)) return split.quotient;
  return split.quotient +
         intern_atom(Atom{AtomKind::floor_div, 0, {}, split.remainder, below, nullptr, 0, 1});
}

// A ceiling has no atom of its own: two forms of one value would not cancel.
Int ceil_div(const Int& a, const Int& b) {
  if (b.is(0)) divided_by_zero(a);
  return -floor_div(-a, b);
}

Int mod(const Int& a, const Int& b) {
  return a - b * floor_div(a, b);
}

Int divided(const Int& a, const Int& b) {
  if (b.is(0)) divided_by_zero(a);
  if (a.is_literal() && b.is_literal()) {
    if (b.is(-1)) return -a;
    if (a.value() % b.value() == 0) return a.value() / b.value();
    throw refusal("inexact", a.to_string() + " / " + b.to_string() + " is not an integer",
                  "write // to round down or ceil_div to round up");
  }
  if (a.is(0)) return 0;
  if (b.is_literal()) {
    Polynomial p = a.polynomial();
    if (b.value() < 0) p = scale(std::move(p), -1);
    p.denominator =
        checked_mul(p.denominator, b.value() < 0 ? checked_sub(0, b.value()) : b.value());
    return intern(std::move(p));
  }
  Int above = a, below = b;
  cancel_common(above, below);
  if (below.is_literal()) return divided(above, below);
  const Quotient split = divide_polynomials(above, below);
  return split.remainder.is(0) ? split.quotient : floor_div(a, b);
}

}  // namespace lay
