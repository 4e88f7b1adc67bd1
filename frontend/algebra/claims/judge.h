#pragma once

// Inside the algebra: from a claim's parts to its judgement. A proposition says what is enough for
// it, what it needs, and how it is decided where all numbers are known; `judge` does the rest.

#include <functional>
#include <optional>
#include <vector>

#include "frontend/algebra/claims/propositions.h"

namespace lay {

struct Claim {
  std::vector<AnyLayout> layouts;
  std::vector<Tuple> numbers;
  // Together enough for the claim; nothing if no such conditions are known.
  std::optional<std::vector<Predicate>> enough;
  // Each holds wherever the claim does.
  std::vector<Predicate> needed;
  // With known operands. At most `most_values` are walked through.
  std::function<Conclusion(const std::vector<AnyLayout>&, const std::vector<Tuple>&,
                           int64_t most_values)>
      known;
  // True if `enough` is also needed: then the smallest sizes that break it break the claim.
  bool exact = false;
};

Conclusion judge(Facts& facts, const Claim& claim);

// A layout with the swizzle around it, if that is all there is around it.
struct Stripped {
  std::optional<Swizzle> swizzle;
  Tuple offset = 0;
  Layout layout;
};
std::optional<Stripped> stripped(const AnyLayout& a);
// The same, in known numbers; nothing where known_layout gives none, or a swizzle would meet a
// negative number.
struct KnownStripped {
  std::optional<Swizzle> swizzle;
  Known known;
};
std::optional<KnownStripped> known_stripped(const AnyLayout& a);

// Size and value of any layout.
Int size_of(const AnyLayout& a);
const Tuple* shape_of(const AnyLayout& a);
std::string value_text(const AnyLayout& a, int64_t index);
std::string coordinate_text(const AnyLayout& a, int64_t index);
// "at 5, coordinate (1,2)"; without the coordinate where it is the index.
std::string place_text(const AnyLayout& a, int64_t index);

// Refutations: a value that was there before, and one that is not as the claim has it.
Conclusion repeated_at(const AnyLayout& a, int64_t index, int64_t before);
Conclusion fails_at(const AnyLayout& a, int64_t index, const std::string& what);

// The integer values in the order of the index; nothing if there are more than
// `most_values`.
std::optional<std::vector<int64_t>> walked(const AnyLayout& a, int64_t most_values);

}  // namespace lay
