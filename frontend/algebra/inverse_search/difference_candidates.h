#pragma once

// what pairs of values with several indices may differ by, where equations
// leave it open.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "frontend/algebra/inverse_search/upper_table.h"

namespace lay {

// Pairs of parts of a rest whose differences are one linear form of what is unknown, up to a
// factor, share the numbers that the form may be: those that some of the indices on both sides
// differ by, for each of the pairs.
class Candidates {
 public:
  using Pair = std::pair<size_t, size_t>;

  Candidates(const UpperTable& rest, int64_t& steps) : rest_(rest), steps_(steps) {}

  // The first gives one of `choices`, or `index` on top of what is expected; `left` is what the
  // equations leave of what the second gives more.
  void add(Pair pair, const Indices& choices, int64_t index, IntegerEquations::Left left);

  bool none() const { return added_.empty(); }

  // A form that may be fewest numbers; the pairs that say so, as far as each said more than those
  // before it.
  struct Form {
    Pair pair;
    Indices choices;
    int64_t index;
    std::vector<int64_t> differences;
    std::vector<Pair> pairs;
  };
  // Not to be sought on among large sets where there is a form of no more than `enough` numbers; of
  // those sets none where there are more than `most` differences to look at.
  std::optional<Form> fewest(size_t enough, size_t most);

 private:
  struct Added {
    Pair pair;
    Indices choices;
    int64_t index;
    // Coprime, the first that is not 0 above it.
    std::vector<int64_t> form;
    // The difference is base - factor*form.
    int64_t base, factor;
    size_t order;
  };

  struct Class {
    std::vector<const Added*> members;
    std::vector<int64_t> numbers;
    std::vector<Pair> pairs;
  };
  struct Lexicographic {
    bool operator()(std::span<const int64_t> x, std::span<const int64_t> y) const {
      return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
    }
  };
  std::vector<Class> classes() const;
  void gather(Class& own);

  const UpperTable& rest_;
  int64_t& steps_;
  std::vector<Added> added_;
};

}  // namespace lay
