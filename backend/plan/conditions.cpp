#include "backend/plan/conditions.h"

#include <algorithm>
#include <map>
#include <span>

#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/session.h"

namespace lay::plan {

namespace {

// Returns a number that is 0 where the condition holds: an equality or a divisor; else nothing.
std::optional<Int> zero_where(const Predicate& condition) {
  const PredicateNode& node = condition.node();
  if (condition.kind() == PredicateKind::equal) return node.a - node.b;
  if (condition.kind() == PredicateKind::divides && node.b.is_literal()) return mod(node.a, node.b);
  return std::nullopt;
}

// A script's `K % 64 == 0` is K - 64*floor_div(K,64) == 0, what vectors ask for is divides(K, 64),
// and (N - W) % 2 is the same as (N + W) % 2: one condition each, so that none is printed twice.
Predicate as_divisor(const Predicate& condition) try {
  const bool is_negated = condition.kind() == PredicateKind::not_equal ||
                          condition.kind() == PredicateKind::not_divides;
  if (is_negated) return negate(as_divisor(negate(condition)));
  const auto zero = zero_where(condition);
  if (!zero || zero->is_literal()) return condition;
  for (const Term& term : zero->polynomial().terms) {
    if (term.factors.size() != 1 || term.factors[0].atom->kind != AtomKind::floor_div) continue;
    const Int &a = term.factors[0].atom->a, &by = term.factors[0].atom->b;
    if (!by.is_literal() || by.value() <= 0) continue;
    // A multiple of the remainder, as (4*K) % 8 is 4*(K % 2), is zero where the remainder is.
    const Int times = -term.coefficient / by.value();
    if (!times.is(0) && *zero == times * mod(a, by)) return divides(a, by);
  }
  return condition;
} catch (const Refusal&) {  // the difference needs more than 64 bits
  return condition;
}

using Known = std::map<DimId, Int>;

std::vector<Predicate> alternatives(const Predicate& condition) {
  if (condition.kind() != PredicateKind::either) return {condition};
  std::vector<Predicate> parts = alternatives(Predicate::of(condition.node().left));
  for (const Predicate& part : alternatives(Predicate::of(condition.node().right)))
    parts.push_back(part);
  return parts;
}

// A condition as it reads back: `a and b and c` from the left on, and what an equality says of a
// dim in the dim's place behind it, in `L == 1 and 8 <= L*M` that is 8 <= M. `known` gains what the
// condition says itself.
Predicate as_read(const Predicate& condition, Known& known) {
  if (condition.kind() == PredicateKind::both) {
    Predicate made;
    for (const Predicate& part : sema::conjuncts(condition))
      made = both(made, as_read(part, known));
    return made;
  }
  if (condition.kind() == PredicateKind::either) {
    Predicate made(false);
    for (const Predicate& part : alternatives(condition)) {
      Known of_part = known;
      made = either(made, as_read(part, of_part));
    }
    return made;
  }
  const Predicate made = as_divisor(known.empty() ? condition : condition.substitute(known));
  if (made.kind() == PredicateKind::equal && made.node().b.is_literal()) {
    if (const auto dim = made.node().a.dim_id()) known.emplace(*dim, made.node().b);
  }
  return made;
}

// The parts of conditions, each once.
std::vector<Predicate> parts_of(const std::vector<Predicate>& when) {
  std::vector<Predicate> parts;
  Known known;
  for (const Predicate& condition : when) {
    for (const Predicate& part : sema::conjuncts(as_read(condition, known)))
      if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
  }
  return parts;
}

}  // namespace

std::optional<std::vector<Predicate>> open_conditions(const Facts& facts,
                                                      const std::vector<Predicate>& when) {
  std::vector<Predicate> open;
  for (const Predicate& condition : parts_of(when)) {
    // Three answers: impossible, so no variant; proved, so no test at the launch; else the launcher
    // asks.
    if (condition.is_never() || facts.proves(negate(condition))) return std::nullopt;
    if (!facts.proves(condition)) open.push_back(condition);
  }
  return open;
}

namespace {

std::vector<Predicate> without_implied(const Facts& facts, std::vector<Predicate> when,
                                       bool (*is_asked)(const Predicate&)) {
  // From the last on: the first of two equivalent conditions stays.
  for (std::size_t i = when.size(); i-- > 0;) {
    if (!is_asked(when[i])) continue;
    Facts others = facts;
    for (std::size_t j = 0; j < when.size(); ++j)
      if (j != i && is_asked(when[j])) others.assume(when[j]);
    if (others.proves(when[i])) when.erase(when.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return when;
}

}  // namespace

std::vector<Predicate> without_implied(const Facts& facts, std::vector<Predicate> when) {
  return without_implied(facts, std::move(when), [](const Predicate&) { return true; });
}

namespace {

// A comparison of what the facts make of both sides.
Predicate simplified(const Facts& facts, const Predicate& condition) {
  const PredicateNode& node = condition.node();
  const auto with = [&](Predicate (*compare)(const Int&, const Int&)) {
    return compare(facts.simplify(node.a), facts.simplify(node.b));
  };
  switch (node.kind) {
    case PredicateKind::less:
      return with(less);
    case PredicateKind::less_equal:
      return with(less_equal);
    case PredicateKind::equal:
      return with(equal);
    case PredicateKind::not_equal:
      return with(not_equal);
    default:
      return condition;
  }
}

// A part of a condition as a script's reads: from the left on, under what stands before it holding
// (`and`) or not (`or`), and without what the facts decide. Of 2*M batches `2*M == 1 and a or b` is
// b.
Predicate as_decided(Facts facts, const Predicate& condition) {
  const bool conjunction = condition.kind() == PredicateKind::both;
  if (!conjunction && condition.kind() != PredicateKind::either) {
    const Predicate now = simplified(facts, condition);
    if (facts.proves(now)) return Predicate(true);
    return facts.proves(negate(now)) ? Predicate(false) : now;
  }
  Predicate made(conjunction);
  for (const Predicate& part : conjunction ? sema::conjuncts(condition) : alternatives(condition)) {
    const Predicate now = as_decided(facts, part);
    made = conjunction ? both(made, now) : either(made, now);
    if (!facts.suppose(conjunction ? now : negate(now))) return Predicate(!conjunction);
  }
  return made;
}

}  // namespace

std::optional<std::vector<Predicate>> as_read_back(const Facts& facts,
                                                   const std::vector<Predicate>& when) {
  const std::vector<Predicate> parts = without_implied(
      facts, parts_of(when),
      [](const Predicate& condition) { return condition.kind() == PredicateKind::divides; });
  // A script's condition is read with those before it known: behind M % 64 == 0 ceil_div(M,64) is
  // M/64.
  Facts known = facts;
  std::vector<Predicate> read;
  for (const Predicate& part : parts) {
    const bool is_one = part.kind() != PredicateKind::both && part.kind() != PredicateKind::either;
    const Predicate now = is_one ? simplified(known, part) : as_decided(known, part);
    if (!known.suppose(now)) return std::nullopt;
    if (now.is_always()) continue;
    if (std::find(read.begin(), read.end(), now) == read.end()) read.push_back(now);
  }
  return read;
}

bool contradicts(Facts facts, const std::vector<Predicate>& when) {
  // One after the other, each with those before it: K % 8 == 0 and K == 12 contradict only
  // together.
  return !std::all_of(when.begin(), when.end(),
                      [&](const Predicate& condition) { return facts.suppose(condition); });
}

bool never_holds(Facts facts, const std::vector<Predicate>& when) {
  return !std::all_of(when.begin(), when.end(), [&](const Predicate& condition) {
    return facts.decide(negate(condition)).verdict != Verdict::proved && facts.suppose(condition);
  });
}

void assume_of_schedule(Facts& facts, const Predicate& condition) {
  if (!facts.suppose(condition)) facts.assume(condition);  // refuses
}

bool same_conditions(const Variant& a, const Variant& b) {
  return a.when == b.when && a.aligned == b.aligned;
}

namespace {

// The variants at the end that stand in one portfolio; the last one where it has no cost.
std::span<const Variant> last_portfolio(const std::vector<Variant>& variants) {
  if (variants.empty()) return {};
  std::size_t first = variants.size() - 1;
  while (first > 0 && in_one_portfolio(variants[first - 1].cost, variants[first].cost)) --first;
  return std::span(variants).subspan(first);
}

}  // namespace

bool takes_all(const std::vector<Variant>& variants) {
  // A variant for all sizes may stand anywhere in a portfolio: those behind it may cost less.
  const auto last = last_portfolio(variants);
  return std::any_of(last.begin(), last.end(), [](const Variant& variant) {
    return variant.when.empty() && variant.aligned.empty();
  });
}

bool Reach::admits(const std::vector<Variant>& variants, const std::optional<Cost>& cost) {
  // `a` for all sizes without a cost, `b` with one: b is never taken, and neither is `c` behind it.
  is_closed_ = is_closed_ || (takes_all(variants) && !in_one_portfolio(variants.back().cost, cost));
  return !is_closed_;
}

std::string conditions_text(const std::vector<Predicate>& when) {
  std::string text;
  for (const Predicate& condition : when) {
    // `and` binds closer than `or`: a choice among several conditions needs parentheses to read
    // back.
    const bool choice = condition.kind() == PredicateKind::either && when.size() > 1;
    text += (text.empty() ? "" : " and ") +
            (choice ? "(" + condition.to_string() + ")" : condition.to_string());
  }
  return text;
}

}  // namespace lay::plan
