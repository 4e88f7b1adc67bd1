#include "frontend/algebra/integers/valuation.h"

#include "frontend/algebra/integers/polynomial.h"

namespace lay {

std::optional<int64_t> Valuation::of(const Int& a) {
  if (a.is_literal()) return a.value();
  return evaluate(a, [&](const Atom& atom) { return of_atom(atom); });
}

std::optional<bool> Valuation::of(const Predicate& p) {
  return evaluate(p, [&](const Int& a) { return of(a); });
}

std::optional<int64_t> Valuation::of_atom(const Atom& atom) {
  if (atom.kind == AtomKind::dim) {
    const auto found = binding_.find(atom.id);
    return found == binding_.end() ? std::nullopt : std::optional(found->second);
  }
  if (const auto found = known_.find(&atom); found != known_.end()) return found->second;
  // What it is made of is added meanwhile.
  const auto value = evaluate(atom, [&](const Int& a) { return of(a); });
  known_.emplace(&atom, value);
  return value;
}

std::optional<int64_t> Int::evaluate(const Binding& binding) const {
  return Valuation(binding).of(*this);
}

std::optional<bool> Predicate::evaluate(const Binding& binding) const {
  return Valuation(binding).of(*this);
}

}  // namespace lay
