#pragma once

// The values of many integers and conditions at the same sizes.

#include <optional>
#include <unordered_map>

#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/integers/predicate.h"

namespace lay {

// Costs of a portfolio are made of the same quotients again and again: each atom is worked out
// once. The binding outlives it.
class Valuation {
 public:
  explicit Valuation(const Binding& binding) : binding_(binding) {}

  // Int::evaluate and Predicate::evaluate.
  std::optional<int64_t> of(const Int& a);
  std::optional<bool> of(const Predicate& p);

 private:
  std::optional<int64_t> of_atom(const Atom& atom);

  const Binding& binding_;
  // Atoms live as long as the program, each once (polynomial.h).
  std::unordered_map<const Atom*, std::optional<int64_t>> known_;
};

}  // namespace lay
