// Conditions as a person would write them.

#include "frontend/algebra/integers/floor.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/support/refusal.h"

namespace lay {
namespace {

// sum(terms) compared with a constant, with what divides every coefficient taken out.
struct Comparison {
  Polynomial above, below;  // sum(terms) = above - below, both with positive coefficients
  int64_t constant = 0;     // sum(terms) + constant is what is compared with 0
  int64_t common = 0;       // of the coefficients, before it was taken out
  size_t terms = 0;
  bool shorter = false;  // symbols were taken out
};

//     8 <= M*N - 3*N     with N > 0 known: no common symbol, terms M*N and -3*N
//     4*M < 4*N + 8      common 4: above M, below N, constant -8
Comparison comparison_of(const Int& a, const Int& b, const IsPositive& is_positive) {
  const Polynomial whole =
      as_polynomial(a - b);  // over its denominator, which is above 0: the sign is that of the sum
  const Polynomial p = without_common(whole, is_positive);
  Comparison c;
  c.shorter = !whole.terms.empty() && p.terms[0].factors.size() < whole.terms[0].factors.size();
  for (const Term& term : p.terms) {
    if (term.factors.empty()) {
      c.constant = term.coefficient;
    } else {
      c.common = gcd(c.common, term.coefficient);
      ++c.terms;
    }
  }
  for (Term term : p.terms) {
    if (term.factors.empty()) continue;
    term.coefficient /= c.common;
    Polynomial& side = term.coefficient > 0 ? c.above : c.below;
    if (term.coefficient < 0) term.coefficient = -term.coefficient;
    side.terms.push_back(std::move(term));
  }
  return c;
}

// above - below <= most.
// Both sides with positive coefficients: M <= N + 3, not M - N <= 3.
Predicate at_most(const Int& above, const Int& below, int64_t most) {
  // -N <= -9 reads as 9 <= N.
  if (above.is(0)) return less_equal(checked_sub(0, most), below);
  return less_equal(above, below + most);
}

// A number compared with 0.
Predicate compared(PredicateKind kind, int64_t constant, const Predicate& p) {
  switch (kind) {
    case PredicateKind::less:
      return Predicate(constant < 0);
    case PredicateKind::less_equal:
      return Predicate(constant <= 0);
    case PredicateKind::equal:
      return Predicate(constant == 0);
    case PredicateKind::not_equal:
      return Predicate(constant != 0);
    default:
      return p;
  }
}

Predicate solved_comparison(const Predicate& p, const IsPositive& is_positive) {
  const PredicateKind kind = p.kind();
  const Comparison c = comparison_of(p.node().a, p.node().b, is_positive);
  // Nothing to solve: it stays as it was written.
  if (c.terms != 1 && c.common <= 1 && !c.shorter) return p;
  if (c.terms == 0) return compared(kind, c.constant, p);
  const Int above = intern(c.above), below = intern(c.below);
  const int64_t rest = checked_sub(0, c.constant);  // common * (above - below) is compared with it
  switch (kind) {
    case PredicateKind::less:
      // x < r for integers is x <= r - 1, and common*x <= r is x <= floor(r/common).
      return at_most(above, below, floor_of(checked_sub(rest, 1), c.common));
    case PredicateKind::less_equal:
      return at_most(above, below, floor_of(rest, c.common));
    case PredicateKind::equal:
    case PredicateKind::not_equal: {
      // 4*M == 6 has no integer solution.
      const bool divides = rest % c.common == 0;
      const Predicate same = !divides      ? Predicate(false)
                             : above.is(0) ? equal(below, checked_sub(0, rest / c.common))
                                           : equal(above, below + rest / c.common);
      return kind == PredicateKind::equal ? same : negate(same);
    }
    default:
      return p;
  }
}

}  // namespace

Predicate solved(const Predicate& p, const IsPositive& is_positive) {
  const PredicateNode& n = p.node();
  const auto side = [&](const auto& node) { return solved(Predicate::of(node), is_positive); };
  if (n.kind == PredicateKind::both) return both(side(n.left), side(n.right));
  if (n.kind == PredicateKind::either) return either(side(n.left), side(n.right));
  if (n.a.is_literal() && n.b.is_literal()) return p;
  try {
    return solved_comparison(p, is_positive);
  } catch (const Refusal&) {  // beyond 64 bits it stays as it was written
    return p;
  }
}

}  // namespace lay
