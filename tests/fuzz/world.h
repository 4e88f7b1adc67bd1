#pragma once

// Sizes that are not known: symbols with true facts about them, and values that the facts allow.

#include <optional>
#include <vector>

#include "tests/laws/random_layouts.h"

namespace fuzz {

class World {
 public:
  explicit World(laws::Random& random);

  lay::Facts& facts() { return facts_; }

  // Literals, symbols, multiples, exact parts, rounded parts and products of symbols; at least 1.
  lay::Int extent();
  lay::Int stride();
  lay::Tuple shape(int leaves);
  // Compact, compact with gaps, or arbitrary strides.
  lay::Layout layout(int leaves);

  // Values for the symbols; nothing if none were found that the facts allow.
  std::optional<lay::Binding> sample();
  static std::map<lay::DimId, lay::Int> replacement(const lay::Binding& at);
  std::string to_string(const lay::Binding& at) const;

 private:
  struct Symbol {
    lay::Int dim;
    std::string name;
    int64_t multiple, lower, upper;
  };
  const Symbol& any();

  laws::Random& random_;
  lay::Facts facts_;
  std::vector<Symbol> symbols_;
};

}  // namespace fuzz
