#pragma once

// Inside the algebra: a few sizes that the facts allow. What fails at one of them does not always hold, so that no
// proof of it needs to be looked for; nothing is ever proved by them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontend/algebra/predicate.h"

namespace lay {

struct Knowledge;

class Samples {
 public:
  // Of the points tried, those that every fact allows: none, where facts leave too little room to hit.
  explicit Samples(const Knowledge& known);
  // The same where the fact holds as well.
  Samples(const Samples& samples, const Predicate& fact);

  // The integer is below 0, the condition does not hold, at one of the sizes.
  bool some_negative(const Int& a) const;
  bool some_break(const Predicate& p) const;

 private:
  template <typename Claim, typename Test>
  bool any(const Claim& claim, const Test& test) const;
  void cover(const std::map<DimId, std::string>& dims, size_t point) const;

  // Values of the dims that facts speak of, and of others once they are asked for.
  mutable std::vector<Binding> points_;
  std::map<DimId, std::pair<int64_t, std::optional<int64_t>>> bounds_;
};

}  // namespace lay
