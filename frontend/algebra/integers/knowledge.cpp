#include "frontend/algebra/integers/knowledge.h"

#include <algorithm>
#include <mutex>
#include <tuple>

#include "frontend/algebra/integers/floor.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/support/refusal.h"

namespace lay {
namespace {

// The quotient symbol of d = m*q + r: one for each (d, m), so that repeated decisions make no new
// symbols.
// A new symbol at every decision would make texts and orders differ between runs of one session.
Int quotient_symbol(DimId d, const Int& modulus) {
  static auto* symbols = new std::map<std::pair<DimId, std::string>, Int>;
  static auto* lock = new std::mutex;
  std::lock_guard guard(*lock);
  auto [it, fresh] = symbols->try_emplace({d, modulus.to_string()});
  if (fresh) it->second = Int::dim("q");
  return it->second;
}

bool mentions(const Int& a, DimId id) {
  std::map<DimId, std::string> dims;
  a.collect_dims(dims);
  return dims.count(id) > 0;
}

// c*d + rest with literal c and d a dim that does not occur in the rest.
struct Linear {
  DimId dim;
  int64_t coefficient;
  Int rest;
};

// The dims that an integer can be solved for. Where a dim also stands in a product or a quotient,
// solving would put it into itself.
std::vector<Linear> linear_dims(const Int& a) {
  std::vector<Linear> found;
  if (a.is_literal() || a.polynomial().denominator != 1) return found;
  for (const Term& term : a.polynomial().terms) {
    if (term.factors.size() != 1 || term.factors[0].exponent != 1) continue;
    const Atom& atom = *term.factors[0].atom;
    if (atom.kind != AtomKind::dim) continue;
    const Int rest = a - as_int(atom) * term.coefficient;
    if (!mentions(rest, atom.id)) found.push_back({atom.id, term.coefficient, rest});
  }
  return found;
}

int64_t ceil_of(int64_t a, int64_t b) {
  return ceil_div(Int(a), Int(b)).value();
}

// +-(x - q*floor(x/q)) == 0 says x % q == 0, for a symbolic q as well: gives (x, q).
std::optional<std::pair<Int, Int>> as_no_remainder(const Int& difference) {
  if (difference.is_literal()) return std::nullopt;
  for (const Term& term : difference.polynomial().terms) {
    for (const Factor& factor : term.factors) {
      const Atom& atom = *factor.atom;
      if (atom.kind != AtomKind::floor_div || atom.b.is_literal()) continue;
      const Int remainder = atom.a - atom.b * as_int(atom);
      if (difference == remainder || difference == -remainder) return std::pair(atom.a, atom.b);
    }
  }
  return std::nullopt;
}

// x with a*x == 1 modulo m, for coprime a and m.
int64_t inverse_modulo(int64_t a, int64_t m) {
  int64_t r0 = m, r1 = ((a % m) + m) % m, t0 = 0, t1 = 1;
  while (r1 != 0) {
    const int64_t q = r0 / r1;
    std::tie(r0, r1) = std::pair(r1, r0 - q * r1);
    std::tie(t0, t1) = std::pair(t1, t0 - q * t1);
  }
  return ((t0 % m) + m) % m;
}

// k*(x - q*floor(x/q)) - k*r == 0 says x % q == r: gives (x - r, q).
// x % q == r is the polynomial x - q*floor(x/q) - r, so it is recognised by its shape and learnt as
// "q divides x - r".
std::optional<std::pair<Int, Int>> as_remainder(const Int& difference) {
  if (difference.is_literal()) return std::nullopt;
  for (const Term& term : difference.polynomial().terms) {
    if (term.factors.size() != 1 || term.factors[0].exponent != 1) continue;
    const Atom& atom = *term.factors[0].atom;
    if (atom.kind != AtomKind::floor_div || !atom.b.is_literal()) continue;
    if (term.coefficient % atom.b.value() != 0) continue;
    const int64_t k = -(term.coefficient / atom.b.value());
    const Int left = difference - (atom.a - atom.b * as_int(atom)) * k;
    if (!left.is_literal() || left.value() % k != 0) continue;
    const int64_t r = -(left.value() / k);
    if (r >= 0 && r < atom.b.value()) return std::pair(atom.a - r, atom.b);
  }
  return std::nullopt;
}

// g*p + c >= 0 says g*p + g*floor(c/g) >= 0: of 2*q < 2*r, 2*q + 2 <= 2*r.
Int without_slack(const Int& a) {
  const Polynomial& p = a.polynomial();
  if (p.denominator != 1) return a;
  int64_t common = 0, constant = 0;
  for (const Term& term : p.terms) {
    if (term.factors.empty())
      constant = term.coefficient;
    else
      common = gcd(common, term.coefficient);
  }
  return common > 1 ? a - constant + floor_of(constant, common) * common : a;
}

}  // namespace

void split_conjunction(const Predicate& p, std::vector<Predicate>& parts) {
  if (p.kind() == PredicateKind::both) {
    split_conjunction(Predicate::of(p.node().left), parts);
    split_conjunction(Predicate::of(p.node().right), parts);
  } else if (!p.is_always()) {
    parts.push_back(p);
  }
}

Knowledge::Knowledge(const Facts& facts) : stated(facts.stated()) {
  for (const auto& [id, range] : facts.bounds_) bounds[id] = {range.first, range.second};
  pending_ = stated;
  learn_pending();
}

Knowledge Knowledge::with(const Predicate& fact) const {
  Knowledge more = *this;
  split_conjunction(fact, more.stated);
  split_conjunction(fact, more.pending_);
  more.learn_pending();
  // Keeps the sample points at which the new fact holds as well.
  more.memory_ = std::make_shared<Memory>(Samples(memory().samples, fact));
  return more;
}

Knowledge::Memory& Knowledge::memory() const {
  if (!memory_) memory_ = std::make_shared<Memory>(Samples(*this));
  return *memory_;
}

// A fact learned late may make an earlier one useful: what was not turned into replacements or
// bounds is gone over again.
void Knowledge::learn_pending() {
  // Chains of facts that settle one another are short: what three rounds leave open stays open.
  for (int round = 0; round < 3 && !pending_.empty(); ++round) {
    const std::vector<Predicate> facts = std::move(pending_);
    pending_.clear();
    nonnegative.clear();
    divisible.clear();
    other.clear();
    const size_t before = replaced.size();
    for (const Predicate& fact : facts) {
      try {
        learn(normal(fact));
      } catch (const Refusal&) {
        pending_.push_back(fact);
      }
    }
    if (replaced.size() == before) break;
  }
  memory_.reset();  // of a proof while less was known
}

Knowledge::Bounds Knowledge::bounds_of(DimId id) const {
  const auto found = bounds.find(id);
  return found == bounds.end() ? Bounds{} : found->second;
}

void Knowledge::learn(const Predicate& fact) {
  const PredicateNode& n = fact.node();
  switch (n.kind) {
    case PredicateKind::always:
      return;
    case PredicateKind::never:
      contradiction = true;
      return;
    case PredicateKind::equal:
      return learn_equal(n.a - n.b);
    case PredicateKind::not_equal:
      return learn_not_equal(n.a - n.b);
    case PredicateKind::less:
      return learn_nonnegative(n.b - n.a - 1);
    case PredicateKind::less_equal:
      return learn_nonnegative(n.b - n.a);
    case PredicateKind::divides:
      return learn_divides(n.a, n.b);
    case PredicateKind::both:
      learn(Predicate::of(n.left));
      return learn(normal(Predicate::of(n.right)));
    case PredicateKind::not_divides:
      // An odd number is 1 more than an even one; modulo other numbers several remainders are left.
      if (n.b.is(2)) return learn_divides(n.a - 1, 2);
      other.push_back(fact);
      pending_.push_back(fact);
      return;
    case PredicateKind::either:
      other.push_back(fact);
      pending_.push_back(fact);
      return;
  }
}

// A dim that is known by others is put in everywhere, so that it stands in no normal form from now
// on. Its own bounds become bounds of what it is.
void Knowledge::replace(DimId id, const Int& by) {
  const Bounds range = bounds_of(id);
  const std::map<DimId, Int> one{{id, by}};
  for (auto& [dim, value] : replaced) value = value.substitute(one);
  replaced[id] = by;
  bounds.erase(id);
  for (Int& f : nonnegative) f = f.substitute(one);
  for (auto& [f, m] : divisible) f = f.substitute(one), m = m.substitute(one);
  for (Predicate& p : other) p = p.substitute(one);
  learn_nonnegative(by - range.lower);
  if (range.upper)
    learn_nonnegative(Int(*range.upper) -
                      normal(by));  // the lower bound may have settled a dim of it
}

// A dim with one value left is that value.
// M <= 1 with M >= 1: M is 1, and is put in everywhere.
void Knowledge::settle(DimId id) {
  const Bounds range = bounds_of(id);
  contradiction |= range.upper && *range.upper < range.lower;
  if (range.upper && *range.upper == range.lower) replace(id, range.lower);
}

void Knowledge::learn_equal(const Int& difference) {
  if (difference.is_literal()) {
    contradiction |= !difference.is(0);
    return;
  }
  if (const auto remainder = as_remainder(difference))
    return learn_divides(remainder->first, remainder->second);
  if (const auto quotient = as_no_remainder(difference))
    return learn_divides(quotient->first, quotient->second);
  for (const Linear& linear : linear_dims(difference)) {
    // A dim that occurs once and linearly, with a rest without it, is solved for.
    if (linear.coefficient == 1) return replace(linear.dim, -linear.rest);
    if (linear.coefficient == -1) return replace(linear.dim, linear.rest);
    if (linear.rest.is_literal()) {
      if (linear.rest.value() % linear.coefficient != 0)
        contradiction = true;
      else
        replace(linear.dim, divided(-linear.rest, linear.coefficient));
      return;
    }
  }
  // No dim can be solved for: an equation is two inequalities.
  nonnegative.push_back(difference);
  nonnegative.push_back(-difference);
  pending_.push_back(equal(difference, 0));
}

void Knowledge::learn_divides(const Int& a, const Int& by) {
  if (a.is_literal() && by.is_literal()) {
    contradiction |= !divides(a, by).is_always();
    return;
  }
  for (const Linear& linear : linear_dims(a)) {
    // m divides c*M + rest: M is r modulo m' = m / gcd(c, m), so M becomes m'*q + r with a new
    // symbol q, whose bounds follow. From then on every polynomial in M shows what divides it.
    if (by.is_literal() && linear.rest.is_literal() && by.value() > 0) {
      const int64_t common = gcd(linear.coefficient, by.value());
      if (linear.rest.value() % common != 0) {
        contradiction = true;
        return;
      }
      const int64_t m = by.value() / common;
      if (m == 1) return;
      const Int r = mod(
          Int(-linear.rest.value() / common) * inverse_modulo(linear.coefficient / common, m), m);
      const Bounds range = bounds_of(linear.dim);
      const Int q = quotient_symbol(linear.dim, m);
      bounds[*q.dim_id()] = {ceil_of(range.lower - r.value(), m), std::nullopt};
      if (range.upper) bounds[*q.dim_id()].upper = floor_of(*range.upper - r.value(), m);
      replace(linear.dim, q * m + r);
      return settle(*q.dim_id());
    }
    // M % T == 0 with a symbol T: M = q*T, if T is at least 1.
    if (!by.is_literal() && linear.rest.is(0) && linear.coefficient == 1 &&
        !mentions(by, linear.dim)) {
      int steps = 200;
      const Int q = quotient_symbol(linear.dim, by);
      if (bounds_of(linear.dim).lower >= 1 && prove_nonnegative(*this, by - 1, steps)) {
        return replace(linear.dim, q * by);
      }
    }
  }
  // A divisor of the number n is at most |n|.
  if (const auto id = by.dim_id(); id && a.is_literal() && !a.is(0))
    learn_nonnegative(max(a, -a) - by);
  divisible.emplace_back(a, by);
  pending_.push_back(divides(a, by));
}

void Knowledge::learn_nonnegative(const Int& a) {
  if (a.is_literal()) {
    contradiction |= a.value() < 0;
    return;
  }
  for (const Linear& linear : linear_dims(a)) {
    if (!linear.rest.is_literal()) continue;
    Bounds& range = bounds.try_emplace(linear.dim).first->second;
    if (linear.coefficient > 0) {
      // c*M + r >= 0: M >= -r/c, rounded inwards.
      range.lower = std::max(range.lower, ceil_of(-linear.rest.value(), linear.coefficient));
    } else {
      const int64_t upper = floor_of(linear.rest.value(), -linear.coefficient);
      range.upper = range.upper ? std::min(*range.upper, upper) : upper;
    }
    return settle(linear.dim);
  }
  // Facts are kept as tight as they are for integers: 2*M - 3 >= 0 as M - 2 >= 0.
  nonnegative.push_back(without_slack(a));
  pending_.push_back(less_equal(0, a));
}

void Knowledge::learn_not_equal(const Int& difference) {
  if (difference.is_literal()) {
    contradiction |= difference.is(0);
    return;
  }
  if (const auto remainder = as_remainder(difference); remainder && remainder->second.is(2)) {
    return learn_divides(remainder->first - 1, 2);  // the only other remainder
  }
  for (const Linear& linear : linear_dims(difference)) {
    if (!linear.rest.is_literal() || linear.rest.value() % linear.coefficient != 0) continue;
    const int64_t excluded = -(linear.rest.value() / linear.coefficient);
    Bounds& range = bounds.try_emplace(linear.dim).first->second;
    // M != 1 with M >= 1 is M >= 2; inside the range an excluded value changes no bound.
    if (excluded == range.lower) ++range.lower;
    if (range.upper && excluded == *range.upper) --*range.upper;
    settle(linear.dim);
  }
  other.push_back(not_equal(difference, 0));
  pending_.push_back(not_equal(difference, 0));
}

}  // namespace lay
