#include "frontend/algebra/integers/facts.h"

#include <algorithm>
#include <ranges>

#include "frontend/algebra/integers/knowledge.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/support/interruption.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/algebra/support/trace.h"

namespace lay {
namespace {

// The budget of one proof, in steps of prove.cpp. An operation asks for some dozens of proofs, so
// it bounds the time of an operation as well.
constexpr int kSteps = 600;

Refusal never_holds(const Predicate& predicate, std::string_view origin, Sizes sizes) {
  Refusal r = refusal("refuted", std::string(origin) + " needs " + predicate.to_string() +
                                     ", which never holds here");
  r.sizes = std::move(sizes);
  return r;
}

struct Ceiling {
  Int above, below;
};

// The ceiling of a quotient by a symbol, by its normal form -floor(-above / below).
// So that ceil_div(ceil_div(a, b), c) becomes ceil_div(a, b*c), which holds for positive b and c.
std::optional<Ceiling> as_ceiling(const Int& a) {
  if (a.is_literal()) return std::nullopt;
  const Polynomial& p = a.polynomial();
  if (p.denominator != 1 || p.terms.size() != 1 || p.terms[0].coefficient != -1)
    return std::nullopt;
  const std::vector<Factor>& factors = p.terms[0].factors;
  if (factors.size() != 1 || factors[0].exponent != 1) return std::nullopt;
  const Atom& atom = *factors[0].atom;
  if (atom.kind != AtomKind::floor_div) return std::nullopt;
  return Ceiling{-atom.a, atom.b};
}

}  // namespace

std::string Guard::to_string() const {
  if (path.is_always()) return predicate.to_string();
  return either(negate(path), predicate).to_string();
}

std::vector<Predicate> Facts::stated() const {
  std::vector<Predicate> facts;
  for (const Predicate& fact : assumptions_) split_conjunction(fact, facts);
  for (const Predicate& fact : path_) split_conjunction(fact, facts);
  const Predicate path = this->path();
  // Guards count as facts, for what is computed after them is used only where they hold. Those of
  // an outer scope count inside an attempt, whose guards are handed on to it; a scope of its own
  // does not see them.
  for (const Scope& scope : std::ranges::reverse_view(scopes_)) {
    for (const Guard& guard : scope.guards) {
      if (guard.path == path || guard.path.is_always()) split_conjunction(guard.predicate, facts);
    }
    if (!scope.attempt) break;
  }
  return facts;
}

const Knowledge& Facts::knowledge() const {
  if (knowledge_) return *knowledge_;
  std::vector<const PredicateNode*> facts;
  for (const Predicate& fact : stated()) facts.push_back(&fact.node());
  constexpr std::size_t most = 64;
  if (recent_.known.size() >= most && !recent_.known.contains(facts)) recent_.known.clear();
  auto& known = recent_.known[facts];
  if (!known) known = std::make_shared<const Knowledge>(*this);
  knowledge_ = known;
  return *knowledge_;
}

Int Facts::dim(std::string_view name) {
  return Int::dim(name);
}

void Facts::declare(const Int& symbol, int64_t lower, std::optional<int64_t> upper) {
  bounds_[symbol.dim_id().value()] = {lower, upper};
  knowledge_.reset();
  recent_.known.clear();
}

void Facts::assume(const Predicate& fact) {
  // The whole procedure is asked whether the fact can hold; `suppose` asks only for a proof that it
  // cannot.
  if (decide(negate(fact)).verdict == Verdict::proved || !keep(fact)) {
    throw refusal("contradiction", "this assumption contradicts what is known: " +
                                       fact.to_string() + " never holds");
  }
}

bool Facts::suppose(const Predicate& fact) {
  return !proves(negate(fact)) && keep(fact);
}

// Facts are added to the knowledge as a whole, since a new one may settle what was left open of an
// old one.
bool Facts::keep(const Predicate& fact) {
  assumptions_.push_back(fact);
  knowledge_.reset();
  if (!knowledge().contradiction) return true;
  assumptions_.pop_back();
  knowledge_.reset();
  return false;
}

bool Facts::proves(const Predicate& predicate) const {
  if (predicate.is_always()) return true;
  // From a contradiction everything follows; it says that this path is never taken.
  if (predicate.is_never()) return knowledge().contradiction;
  int steps = kSteps;
  return prove(knowledge(), predicate, steps);
}

Conclusion Facts::decide(const Predicate& predicate) const {
  ask();
  if (proves(predicate)) return {Verdict::proved, {}};
  if (predicate.is_never()) return {Verdict::refuted, {}};
  // No proof: sizes at which it fails are a refutation, and a finite range of sizes without such a
  // proof.
  Search search = search_counterexample(knowledge(), predicate);
  if (search.witness) return {Verdict::refuted, {}, std::move(*search.witness)};
  if (search.exhausted) return {Verdict::proved, {}};
  return {proves(negate(predicate)) ? Verdict::refuted : Verdict::undecided, {}};
}

void Facts::require(const Predicate& predicate, std::string_view origin) {
  if (!try_require(predicate, origin))
    throw never_holds(predicate, origin, decide(predicate).sizes);
}

// Proved: nothing to do. Refuted: false. Otherwise the predicate becomes a guard, with the smallest
// sizes that break it, and counts as a fact from then on.
bool Facts::try_require(const Predicate& predicate, std::string_view origin) {
  ask();
  if (proves(predicate)) return true;
  if (predicate.is_never() || proves(negate(predicate))) return false;
  // Each guard that stands makes every later search longer. They share one budget, so that a
  // program of many operations does not slow down with every guard.
  size_t guards = 0;
  for (const Scope& scope : scopes_) guards += scope.guards.size();
  Search breaks =
      search_counterexample(knowledge(), predicate, 1.0 / static_cast<double>(1 + guards));
  if (breaks.exhausted) return true;
  // No sizes at which it holds: a guard would refuse every launch.
  if (breaks.finite && search_counterexample(knowledge(), negate(predicate)).exhausted)
    return false;
  if (knowledge().with(predicate).contradiction) return false;
  const auto is_positive = [&](const Int& a) { return proves(less(0, a)); };
  // Solved for a symbol, as a person would write it: "M >= 9", not "0 <= M - 9".
  Guard guard{path(), solved(predicate, is_positive), std::string(origin),
              breaks.witness ? std::move(*breaks.witness) : Sizes{}};
  trace::report([&] { return trace::Guarded{guard}; });
  raise(guard);
  return true;
}

// The same guard once a scope.
void Facts::raise(const Guard& guard) {
  std::vector<Guard>& scope = scopes_.back().guards;
  if (std::find(scope.begin(), scope.end(), guard) != scope.end()) return;
  scope.push_back(guard);
  knowledge_.reset();
}

// A guard counts only on its path: it is broken where the path is taken and the predicate is not.
bool Facts::rules_out(const Guard& guard) const {
  return proves(negate(guard.predicate)) && proves(guard.path);
}

Int Facts::exact_div(const Int& a, const Int& b, std::string_view origin) {
  if (a.is_literal() && b.is_literal()) return divided(a, b);
  if (!b.is_literal()) require(not_equal(b, 0), origin);
  if (!b.is(0)) require(divides(a, b), origin);
  return divided(a, b);
}

// Of two claims the one that seldom holds is asked first, here and below: some sizes break it,
// while that a is not negative takes a proof.
Int Facts::floor_div(const Int& a, const Int& b) {
  if (a.is_literal() && b.is_literal()) return lay::floor_div(a, b);
  if (!b.is_literal()) require(not_equal(b, 0), "a division");
  if (!b.is(0) && proves(divides(a, b))) return divided(a, b);
  if (proves(less(a, b)) && proves(less_equal(0, a))) return 0;
  return lay::floor_div(a, b);
}

Int Facts::ceil_div(const Int& a, const Int& b) {
  if (a.is_literal() && b.is_literal()) return lay::ceil_div(a, b);
  if (!b.is_literal()) require(not_equal(b, 0), "a division");
  if (!b.is(0) && proves(divides(a, b))) return divided(a, b);
  if (proves(less_equal(a, b)) && proves(less_equal(1, a))) return 1;
  if (const auto inner = as_ceiling(a); inner && proves(less(0, b)))
    return ceil_div(inner->above, inner->below * b);
  return lay::ceil_div(a, b);
}

//     M % 8 with M = 8*m known is 0; i % 8 with 0 <= i < 8 is i
Int Facts::mod(const Int& a, const Int& b) {
  if (a.is_literal() && b.is_literal()) return lay::mod(a, b);
  if (!b.is_literal()) require(not_equal(b, 0), "a remainder");
  if (!b.is(0) && proves(divides(a, b))) return 0;
  if (proves(less(a, b)) && proves(less_equal(0, a))) return a;
  return lay::mod(a, b);
}

Int Facts::min(const Int& a, const Int& b) const {
  if (proves(less_equal(a, b))) return a;
  if (proves(less_equal(b, a))) return b;
  return lay::min(a, b);
}

Int Facts::max(const Int& a, const Int& b) const {
  if (proves(less_equal(a, b))) return b;
  if (proves(less_equal(b, a))) return a;
  return lay::max(a, b);
}

namespace {

// b*(a//b) is a where b divides a. The normal form knows it of literal divisors.
Int with_whole_quotients(const Facts& facts, Int a) {
  for (bool again = true; again && !a.is_literal() && a.polynomial().denominator == 1;) {
    again = false;
    for (const Term& term : a.polynomial().terms) {
      for (const Factor& factor : term.factors) {
        const Atom& atom = *factor.atom;
        if (atom.kind != AtomKind::floor_div || atom.b.is_literal()) continue;
        const Polynomial whole = as_polynomial(atom.b * as_int(atom));
        if (whole.terms.size() != 1 || whole.denominator != 1) continue;
        auto times = divide_monomial(term, whole.terms[0]);
        if (!times || term.coefficient % whole.terms[0].coefficient != 0) continue;
        if (!facts.proves(divides(atom.a, atom.b))) continue;
        times->coefficient = term.coefficient / whole.terms[0].coefficient;
        Polynomial single;
        single.terms.push_back(std::move(*times));
        const Int count = intern(std::move(single));
        a = a + count * (atom.a - atom.b * as_int(atom));
        again = true;
        break;
      }
      if (again) break;
    }
  }
  return a;
}

// Returns what `simpler` gives, or `as_it_stands` where that cannot be written: a divisor is 0 by
// what is known now, or a number leaves 64 bits. The guard that is broken then, or the sizes, are
// refused where the value is used.
template <typename Value, typename Simpler>
Value unless_refused(const Value& as_it_stands, Simpler simpler) {
  try {
    return simpler();
  } catch (const Refusal&) {
    return as_it_stands;
  }
}

}  // namespace

bool Facts::knows_numbers() const {
  const auto& replaced = knowledge().replaced;
  return std::any_of(replaced.begin(), replaced.end(),
                     [](const auto& dim) { return dim.second.is_literal(); });
}

Int Facts::simplify(const Int& a) const {
  const auto simple_atom = [&](const Atom& atom) -> std::optional<Int> {
    const Int x = simplify(atom.a), y = simplify(atom.b);
    switch (atom.kind) {
      case AtomKind::dim:
        break;
      case AtomKind::min:
        return min(x, y);
      case AtomKind::max:
        return max(x, y);
      case AtomKind::select:
        if (proves(Predicate::of(atom.condition))) return x;
        if (proves(negate(Predicate::of(atom.condition)))) return y;
        return std::nullopt;
      case AtomKind::floor_div:
        if (proves(divides(x, y))) return divided(x, y);
        // floor((k*y + y - 1) / y) is k: the normal form of a ceiling of a multiple.
        if (proves(divides(x - y + 1, y))) return divided(x - y + 1, y);
        if (proves(less(x, y)) && proves(less_equal(0, x))) return Int(0);
        if (proves(less(x, 0)) && proves(less_equal(-y, x))) return Int(-1);
        // With 1 <= M <= 64, ceil_div(M,64) = floor((M + 63) / 64) is 1.
        if (y.is_literal() && y.value() > 0) {
          const auto least = lower(x), most = upper(x);
          if (least && most && lay::floor_div(*least, y) == lay::floor_div(*most, y))
            return lay::floor_div(*least, y);
        }
        return lay::floor_div(x, y);
    }
    return std::nullopt;
  };
  const auto rule = [&](const Atom& atom) -> std::optional<Int> {
    if (atom.kind == AtomKind::dim) {
      const auto known = knowledge().replaced.find(atom.id);
      // Only numbers are put in. M = 8*m is known as well, but m is a symbol that no user has seen.
      const bool is_number = known != knowledge().replaced.end() && known->second.is_literal();
      return is_number ? std::optional(known->second) : std::nullopt;
    }
    auto& simplified = knowledge().memory().simplified;
    if (const auto found = simplified.find(&atom); found != simplified.end()) return found->second;
    const auto simple =
        unless_refused(std::optional(as_int(atom)), [&] { return simple_atom(atom); });
    return simplified.emplace(&atom, simple).first->second;
  };
  return unless_refused(a, [&] { return with_whole_quotients(*this, rewrite(a, rule)); });
}

std::vector<Guard> Facts::simplify(const std::vector<Guard>& guards) const {
  std::vector<Guard> kept;
  for (const Guard& guard : guards) {
    if (std::find(kept.begin(), kept.end(), guard) != kept.end()) continue;
    // Facts that were learnt after the guard was raised may have made it needless.
    if (!proves(guard.predicate) && !proves(either(negate(guard.path), guard.predicate)))
      kept.push_back(guard);
  }
  return kept;
}

// With facts put in: M, where M % 8 == 0 is known, is 8*m, and its divisor is 8.
int64_t Facts::divisor(const Int& a) const {
  try {
    const Polynomial p = as_polynomial(knowledge().normal(a));
    if (p.denominator != 1) return 1;
    int64_t common = 0;
    for (const Term& term : p.terms) common = gcd(common, term.coefficient);
    return common;
  } catch (const Refusal&) {
    return 1;
  }
}

std::optional<int64_t> Facts::lower(const Int& a) const {
  try {
    return lower_bound(knowledge(), knowledge().normal(a));
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

std::optional<int64_t> Facts::upper(const Int& a) const {
  const auto bound = lower(-a);
  if (!bound || *bound == INT64_MIN) return std::nullopt;
  return -*bound;
}

Predicate Facts::path() const {
  Predicate all;
  for (const Predicate& condition : path_) all = both(all, condition);
  return all;
}

// Inside one arm of a condition its condition is a fact, and guards that are raised there hold on
// that path only.
Under::Under(Facts& facts, const Predicate& condition)
    : facts_(facts), depth_(facts.path_.size()), possible_(!facts.proves(negate(condition))) {
  facts_.path_.push_back(condition);
  facts_.knowledge_.reset();
}

Under::~Under() {
  facts_.path_.resize(depth_);
  facts_.knowledge_.reset();
}

WithoutPath::WithoutPath(Facts& facts) : facts_(facts), path_(std::exchange(facts.path_, {})) {
  facts_.knowledge_.reset();
}

WithoutPath::~WithoutPath() {
  facts_.path_ = std::move(path_);
  facts_.knowledge_.reset();
}

GuardScope::GuardScope(Facts& facts) : GuardScope(facts, false) {}

GuardScope::GuardScope(Facts& facts, bool attempt) : facts_(facts), depth_(facts.scopes_.size()) {
  facts_.scopes_.push_back({{}, attempt});
  facts_.knowledge_.reset();
}

GuardScope::~GuardScope() {
  facts_.scopes_.resize(depth_);
  facts_.knowledge_.reset();
}

const std::vector<Guard>& GuardScope::guards() const {
  return facts_.scopes_[depth_].guards;
}

// Keeps the guards that the other guards of the scope do not imply.
// Each guard is taken away in turn, and stays away if the others prove it.
void GuardScope::keep() {
  std::vector<Guard>& own = facts_.scopes_[depth_].guards;
  for (size_t i = 0; own.size() > 1 && i < own.size();) {
    const Guard guard = own[i];
    own.erase(own.begin() + static_cast<std::ptrdiff_t>(i));
    facts_.knowledge_.reset();
    if (guard.path == facts_.path() && facts_.proves(guard.predicate)) continue;
    own.insert(own.begin() + static_cast<std::ptrdiff_t>(i), guard);
    ++i;
  }
  const std::vector<Guard> guards = std::move(own);
  own.clear();
  for (const Guard& guard : guards) {
    auto& outer = facts_.scopes_[depth_ - 1].guards;
    if (std::find(outer.begin(), outer.end(), guard) == outer.end()) outer.push_back(guard);
  }
  facts_.knowledge_.reset();
}

}  // namespace lay
