#pragma once

// Inside the algebra: a few sizes that the facts allow. A claim that fails at one of them does not
// always hold, so that no proof of it needs to be looked for; nothing is ever proved by them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/algebra/integers/predicate.h"

namespace lay {

struct Knowledge;

class Samples {
 public:
  // Keeps those of the points tried that every fact allows: none, where facts leave too little room
  // to hit.
  explicit Samples(const Knowledge& known);
  // The same where the fact holds as well.
  Samples(const Samples& samples, const Predicate& fact);

  // The integer is below 0, the condition does not hold, at one of the sizes.
  bool some_negative(const Int& a) const;
  bool some_break(const Predicate& p) const;

 private:
  // Values of the dims that facts speak of, and of others once they are asked for; and of atoms,
  // which claims share.
  struct Point {
    size_t number;
    Binding dims;
    std::unordered_map<const Atom*, std::optional<int64_t>> atoms;
  };

  int64_t value(DimId id, Point& at) const;
  std::optional<int64_t> value(const Atom& atom, Point& at) const;
  std::optional<int64_t> value(const Int& a, Point& at) const;
  std::optional<bool> value(const Predicate& p, Point& at) const;

  mutable std::vector<Point> points_;
  std::map<DimId, std::pair<int64_t, std::optional<int64_t>>> bounds_;
};

}  // namespace lay
