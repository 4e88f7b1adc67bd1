#pragma once

// Inside the algebra: what pairs of values with several indices may differ by, where equations leave it open.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "frontend/algebra/cut_rest.h"

namespace lay {

// Requires what all numbers have in common that a pair may differ by: one number, or one up to a multiple. `decided`
// where it is one. The first gives one of `choices`, or `index` on top of what is due.
enum class Narrowed : uint8_t { no, yes, to_none };
Narrowed narrow(const Rest& rest, std::pair<size_t, size_t> pair, const Indices& choices, int64_t index,
                IntegerEquations& equations, std::vector<Difference>& decided, int64_t& steps);

// Pairs of parts of a rest whose differences are one linear form of what is unknown, up to a factor, share the numbers
// that the form may be: those that some of the indices on both sides differ by, for each of the pairs.
class Candidates {
 public:
  using Pair = std::pair<size_t, size_t>;

  Candidates(const Rest& rest, int64_t& steps) : rest_(rest), steps_(steps) {}

  // The first gives one of `choices`, or `index` on top of what is due.
  void add(Pair pair, const Indices& choices, int64_t index, const IntegerEquations& equations);

  bool none() const { return added_.empty(); }

  // A form that may be fewest numbers; the pairs that say so, as far as each said more than those before it.
  struct Form {
    Pair pair;
    Indices choices;
    int64_t index;
    std::vector<int64_t> differences;
    std::vector<Pair> pairs;
  };
  Form fewest();

 private:
  struct Added {
    Pair pair;
    Indices choices;
    int64_t index;
    std::vector<int64_t> form;  // coprime, the first that is not 0 above it
    int64_t base, factor;       // the difference is base - factor*form
    size_t order;
  };

  const Rest& rest_;
  int64_t& steps_;
  std::vector<Added> added_;
};

}  // namespace lay
