// Steps (1) to (3) of the decision procedure: identity, divisibility, sign.

#include <algorithm>

#include "frontend/algebra/integers/knowledge.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/support/refusal.h"

namespace lay {
namespace {

// The most facts, cases or bounds of quotients that one proof puts in on one path.
constexpr int kMaxDepth = 4;

bool nonnegative(const Knowledge& known, const Int& a, int& steps, int depth);
bool proved(const Knowledge& known, const Predicate& p, int& steps, int depth);

// An integer of this many atoms costs one step more.
constexpr int kWeightOfStep = 16;

// In steps: long integers take longer.
int cost_of(const Int& a) {
  return a.is_literal() ? 1 : 1 + a.polynomial().weight / kWeightOfStep;
}

// The denominator is positive: a and its numerator have one sign.
Int numerator(const Int& a) {
  return a * as_polynomial(a).denominator;
}

// The first atom of one of the kinds among the factors.
const Atom* find_atom(const Int& a, std::initializer_list<AtomKind> kinds) {
  if (a.is_literal()) return nullptr;
  for (const Term& term : a.polynomial().terms) {
    for (const Factor& factor : term.factors) {
      if (std::find(kinds.begin(), kinds.end(), factor.atom->kind) != kinds.end())
        return factor.atom;
    }
  }
  return nullptr;
}

Int replace_atom(const Int& a, const Atom* atom, const Int& by) {
  return rewrite(a, [&](const Atom& x) { return &x == atom ? std::optional(by) : std::nullopt; });
}

// a = cofactor*atom + rest, if the atom occurs to the first power only.
struct Split {
  Int cofactor;
  Int rest;
};

std::optional<Split> split_by(const Int& a, const Atom* atom) {
  Polynomial with, without;
  for (const Term& term : a.polynomial().terms) {
    const auto found = std::find_if(term.factors.begin(), term.factors.end(),
                                    [&](const Factor& f) { return f.atom == atom; });
    if (found == term.factors.end()) {
      without.terms.push_back(term);
      continue;
    }
    if (found->exponent != 1) return std::nullopt;
    Term rest = term;
    rest.factors.erase(rest.factors.begin() + (found - term.factors.begin()));
    with.terms.push_back(std::move(rest));
  }
  return Split{intern(std::move(with)), intern(std::move(without))};
}

// min, max and selections: in each case with the fact that makes it the case.
bool nonnegative_by_cases(const Knowledge& known, const Int& a, const Atom& atom, int& steps,
                          int depth) {
  const Predicate first = atom.kind == AtomKind::select ? Predicate::of(atom.condition)
                          : atom.kind == AtomKind::min  ? less_equal(atom.a, atom.b)
                                                        : less_equal(atom.b, atom.a);
  const auto holds = [&](const Predicate& condition, const Int& value) {
    const Knowledge more = known.with(condition);
    // A case that contradicts what is known never happens.
    return more.contradiction ||
           nonnegative(more, more.normal(replace_atom(a, &atom, value)), steps, depth + 1);
  };
  return holds(first, atom.a) && holds(negate(first), atom.b);
}

// A quotient A = floor(x/q) lies between (x - q + 1)/q and x/q: put in whichever bound the sign of
// its cofactor asks for.
bool nonnegative_by_quotient(const Knowledge& known, const Int& a, int& steps, int depth) {
  const Int n = numerator(a);
  const Int slack = as_polynomial(a).denominator;
  for (const Term& term : n.polynomial().terms) {
    for (const Factor& factor : term.factors) {
      const Atom& atom = *factor.atom;
      if (atom.kind != AtomKind::floor_div) continue;
      const auto split = split_by(n, &atom);
      if (!split || !nonnegative(known, atom.b - 1, steps, depth + 1)) continue;
      // n = cofactor*A + rest is an integer over `slack`, so n >= 0 follows from n > -slack, and
      // that from q*n > -q*slack, that is q*n + q*slack - 1 >= 0. With q*A >= x - q + 1 or q*A <= x
      // nothing of the floor is left.
      const Int q = atom.b, scaled_rest = q * split->rest + q * slack - 1;
      if (nonnegative(known, split->cofactor, steps, depth + 1)) {
        if (nonnegative(known, split->cofactor * (atom.a - q + 1) + scaled_rest, steps, depth + 1))
          return true;
      } else if (nonnegative(known, -split->cofactor, steps, depth + 1)) {
        if (nonnegative(known, split->cofactor * atom.a + scaled_rest, steps, depth + 1))
          return true;
      }
    }
  }
  return false;
}

// A product of factors that are at least 0.
bool nonnegative_monomial(const Knowledge& known, const Term& term) {
  return std::all_of(term.factors.begin(), term.factors.end(), [&](const Factor& factor) {
    const auto bound = lower_bound(known, as_int(*factor.atom));
    return bound && *bound >= 0;
  });
}

// A fact f >= 0 with a >= f, or a = a' + k*monomial*f such that a negative term of a goes.
//     known: N - M >= 0.   To show: K*N - K*M + 3 >= 0
//     K times the fact takes the term -K*M away; 3 >= 0 is left.
bool nonnegative_by_facts(const Knowledge& known, const Int& a, int& steps, int depth) {
  for (const Int& fact : known.nonnegative) {
    // The fact itself, or it and a constant above 0.
    if (const Int more = a - fact; more.is_literal() && more.value() >= 0) return true;
  }
  const Int n = numerator(a);
  for (const Term& term : n.polynomial().terms) {
    if (term.coefficient >= 0) continue;
    for (const Int& fact : known.nonnegative) {
      const Int f = numerator(fact);
      for (const Term& other : f.polynomial().terms) {
        if (other.coefficient >= 0 || other.factors.empty()) continue;
        // term and other are both negative: times*f has the same negative term as n, so that n -
        // times*f has it no more. Multiplied out to keep integer coefficients.
        auto monomial = divide_monomial(term, other);
        if (!monomial || !nonnegative_monomial(known, *monomial)) continue;
        monomial->coefficient = -term.coefficient;
        const Int times = intern(Polynomial{1, {*monomial}, 0, 0});
        if (nonnegative(known, n * -other.coefficient - f * times, steps, depth + 1)) return true;
      }
    }
  }
  return false;
}

// M*N - N is at least 0 where M - 1 is.
bool nonnegative_without_common(const Knowledge& known, const Int& a, int& steps, int depth) {
  const auto is_positive = [&](const Int& factor) {
    const auto bound = lower_bound(known, factor);
    return bound && *bound > 0;
  };
  const Int whole = numerator(a),
            shorter = intern(without_common(as_polynomial(whole), is_positive));
  return shorter != whole && nonnegative(known, shorter, steps, depth);
}

bool search_nonnegative(const Knowledge& known, const Int& a, int& steps, int depth) {
  if (const auto bound = lower_bound(known, a); bound && *bound >= 0) return true;
  // A point that the facts allow and at which it is negative refutes the claim: no search for a
  // proof can succeed.
  if (known.memory().samples.some_negative(a)) return false;
  if (nonnegative_without_common(known, a, steps, depth)) return true;
  if (depth >= kMaxDepth) return false;
  // Cases come first, for each of them is exact.
  if (const Atom* atom = find_atom(a, {AtomKind::min, AtomKind::max, AtomKind::select})) {
    return nonnegative_by_cases(known, a, *atom, steps, depth);
  }
  return nonnegative_by_facts(known, a, steps, depth) ||
         nonnegative_by_quotient(known, a, steps, depth);
}

// Facts in another order lead to the same integers again and again: each is looked at once for each
// depth.
bool nonnegative(const Knowledge& known, const Int& a, int& steps, int depth) {
  if ((steps -= cost_of(a)) < 0) return false;
  if (a.is_literal()) return a.value() >= 0;
  auto& signs = known.memory().signs;
  const Polynomial* key = &a.polynomial();
  if (const auto seen = signs.find(key); seen != signs.end()) {
    if (seen->second.proved_to >= depth) return true;
    if (seen->second.failed_from <= depth) return false;
  }
  const bool holds = search_nonnegative(known, a, steps, depth);
  Knowledge::Memory::Sign& sign = signs.try_emplace(key).first->second;
  sign.integer = a;
  if (holds) sign.proved_to = std::max(sign.proved_to, depth);
  // A failure for lack of steps says nothing of a later try with more of them.
  if (!holds && steps >= 0) sign.failed_from = std::min(sign.failed_from, depth);
  return holds;
}

// All terms but the constant, and the constant.
std::pair<std::vector<Term>, int64_t> without_constant(const Polynomial& p) {
  std::vector<Term> terms = p.terms;
  int64_t constant = 0;
  if (!terms.empty() && terms.back().factors.empty()) {
    constant = terms.back().coefficient;
    terms.pop_back();
  }
  return {terms, constant};
}

// 8*M + 3 is no multiple of 4: all terms are multiples of g = gcd(8, 4), the constant is not.
bool never_zero_modulo(const Int& a, int64_t modulus) {
  const Polynomial p = as_polynomial(a);
  const auto [terms, constant] = without_constant(p);
  // Modulus 0 asks whether it is 0 at all: then the coefficients alone count.
  int64_t common = checked_mul(modulus, p.denominator);
  for (const Term& term : terms) common = gcd(common, term.coefficient);
  return common != 0 && constant % common != 0;
}

// The most values of the atoms modulo a number that are tried.
constexpr int64_t kMaxResidues = 4096;

// The value of a polynomial modulo a number depends on its atoms modulo that number only: tries
// them all. True if it is 0 for each.
// M*(M + 1) is even. Coefficients do not show it; the two residues of M do.
bool zero_for_all_residues(const Polynomial& p, int64_t modulus) {
  std::vector<const Atom*> atoms;
  for (const Term& term : p.terms) {
    for (const Factor& factor : term.factors) {
      if (std::find(atoms.begin(), atoms.end(), factor.atom) == atoms.end())
        atoms.push_back(factor.atom);
    }
  }
  int64_t cases = 1;
  for (size_t i = 0; i < atoms.size(); ++i) {
    if (modulus > kMaxResidues || (cases *= modulus) > kMaxResidues) return false;
  }
  for (int64_t which = 0; which < cases; ++which) {
    int64_t sum = 0;
    for (const Term& term : p.terms) {
      int64_t product = term.coefficient % modulus;
      for (const Factor& factor : term.factors) {
        // `which` as a number to the base `modulus`: digit k is the residue of atom k.
        int64_t rest = which;
        for (const Atom* atom : atoms) {
          if (atom == factor.atom) break;
          rest /= modulus;
        }
        for (int i = 0; i < factor.exponent; ++i) product = product * (rest % modulus) % modulus;
      }
      sum = (sum + product) % modulus;
    }
    if (sum != 0) return false;
  }
  return true;
}

bool divisible(const Knowledge& known, const Int& a, const Int& by, int& steps, int depth) {
  if ((steps -= cost_of(a)) < 0) return false;
  if (a.is(0)) return true;
  if (!by.is_literal()) {
    Int above = a, below = by;
    cancel_common(above, below);
    if (below.is_literal()) return divisible(known, above, below, steps, depth);
    // A number is divided by a symbol only at some sizes.
    if (above.is_literal()) return false;
    const Int quotient = floor_div(above, below);
    // Long division without a remainder is a proof; a remainder is none of the contrary.
    return as_polynomial(quotient).denominator == 1 && quotient * below == above;
  }
  if (by.is(0)) return false;
  const Polynomial p = as_polynomial(a);
  const int64_t modulus = checked_mul(p.denominator, by.value());
  if (std::all_of(p.terms.begin(), p.terms.end(),
                  [&](const Term& t) { return t.coefficient % modulus == 0; })) {
    return true;
  }
  if (depth == 0 && known.memory().samples.some_break(divides(a, by))) return false;
  if (depth == 0 && p.terms.size() > 1 && zero_for_all_residues(p, modulus)) return true;
  if (depth >= kMaxDepth || p.denominator != 1) return false;
  for (const auto& [f, m] : known.divisible) {
    if (!m.is_literal() || f.is_literal() || f.polynomial().denominator != 1) continue;
    // m divides f. A multiple of f is taken from a such that a term of a goes, if the multiple is
    // one of `by` too; what is left must be divisible.
    const Term& leading = f.polynomial().terms[0];
    for (const Term& term : p.terms) {
      if (term.coefficient % leading.coefficient != 0) continue;
      auto times = divide_monomial(term, leading);
      if (!times) continue;
      times->coefficient = term.coefficient / leading.coefficient;
      if (checked_mul(times->coefficient, m.value()) % by.value() != 0) continue;
      if (divisible(known, a - f * intern(Polynomial{1, {*times}, 0, 0}), by, steps, depth + 1))
        return true;
    }
  }
  return false;
}

bool unequal(const Knowledge& known, const Int& difference, int& steps, int depth) {
  return never_zero_modulo(difference, 0) || nonnegative(known, difference - 1, steps, depth) ||
         nonnegative(known, -difference - 1, steps, depth);
}

bool indivisible(const Knowledge& known, const Int& a, const Int& by, int& steps, int depth) {
  if (by.is_literal()) return !by.is(0) && never_zero_modulo(a, by.value());
  Int above = a, below = by;
  if (!a.is(0)) cancel_common(above, below);
  if (below.is_literal()) return never_zero_modulo(above, below.value());
  // 0 < a < by: between two multiples.
  return nonnegative(known, a - 1, steps, depth) && nonnegative(known, by - a - 1, steps, depth);
}

bool stated(const Knowledge& known, const Predicate& p) {
  const auto is = [&](const Predicate& fact) { return fact == p; };
  return std::any_of(known.other.begin(), known.other.end(), is);
}

bool proved(const Knowledge& known, const Predicate& p, int& steps, int depth) {
  if (known.contradiction) return true;
  const PredicateNode& n = p.node();
  switch (n.kind) {
    case PredicateKind::always:
      return true;
    case PredicateKind::never:
      return false;
    // An equation is proved as two inequalities: the normal form has settled those that are
    // identities.
    case PredicateKind::equal:
      return stated(known, p) || (nonnegative(known, n.a - n.b, steps, depth) &&
                                  nonnegative(known, n.b - n.a, steps, depth));
    case PredicateKind::not_equal:
      return stated(known, p) || stated(known, not_equal(n.a - n.b, 0)) ||
             unequal(known, n.a - n.b, steps, depth);
    case PredicateKind::less:
      return nonnegative(known, n.b - n.a - 1, steps, depth);
    case PredicateKind::less_equal:
      return nonnegative(known, n.b - n.a, steps, depth);
    case PredicateKind::divides:
      return divisible(known, n.a, n.b, steps, depth);
    case PredicateKind::not_divides:
      return stated(known, p) || indivisible(known, n.a, n.b, steps, depth);
    case PredicateKind::both:
      return proved(known, Predicate::of(n.left), steps, depth) &&
             proved(known, Predicate::of(n.right), steps, depth);
    case PredicateKind::either: {
      const Predicate left = Predicate::of(n.left), right = Predicate::of(n.right);
      if (stated(known, p)) return true;
      if (known.memory().samples.some_break(p)) return false;
      if (proved(known, left, steps, depth) || proved(known, right, steps, depth)) return true;
      if (depth >= kMaxDepth) return false;
      // a or b: b wherever not a.
      const Knowledge more = known.with(negate(left));
      return proved(more, more.normal(right), steps, depth + 1);
    }
  }
  return false;
}

}  // namespace

bool prove(const Knowledge& known, const Predicate& predicate, int& steps) {
  if (predicate.is_always()) return true;
  for (const Predicate& fact : known.stated) {
    if (fact == predicate) return true;
  }
  auto& decided = known.memory().decided;
  if (const auto seen = decided.find(&predicate.node()); seen != decided.end())
    return seen->second.second;
  bool holds = false;
  try {
    holds = proved(known, known.normal(predicate), steps, 0);
  } catch (const Refusal&) {  // a number on the way did not fit or did not divide: not proved
  }
  // The decision is kept with the knowledge, until that changes.
  if (holds || steps >= 0) decided.try_emplace(&predicate.node(), predicate, holds);
  return holds;
}

bool prove_nonnegative(const Knowledge& known, const Int& a, int& steps) {
  try {
    return nonnegative(known, a, steps, 0);
  } catch (const Refusal&) {
    return false;
  }
}

}  // namespace lay
