#include <algorithm>

#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/integers/linear_forms.h"
#include "frontend/algebra/inverse_search/value_table.h"
#include "frontend/algebra/support/interruption.h"

namespace lay {
namespace {

constexpr size_t kMostToCount = 256;

// The entry with fewest indices that go with the equations so far is given each of them, and then
// the next.
// Backtracking over LinearForms: each decision is one more equation, on a copy of those so far.
class Strides {
 public:
  Strides(const ValueTable& table, std::span<const size_t> entries, int64_t& steps)
      : table_(table), entries_(entries), steps_(steps) {}

  // With the extents known the strides solve linear equations, digits(value) . strides == index:
  // one equation for each value with one index, a choice of equations for each of the others.
  std::optional<std::vector<int64_t>> find(const std::vector<int64_t>& extents) {
    LinearForms forms(extents.size() + 1, entries_.size());
    std::vector<int64_t> digits(extents.size() + 1);
    for (size_t i = 0; i < entries_.size(); ++i) {
      int64_t value = table_[entries_[i]].at;
      for (size_t k = 0; k < extents.size(); ++k) {
        digits[k] = value % extents[k];
        value /= extents[k];
      }
      digits.back() = value;
      forms.set(i, 0, digits);
    }
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (table_[entries_[i]].is_unique() && !require(forms, i, table_[entries_[i]].choices[0]))
        return std::nullopt;
    }
    return decide(forms);
  }

 private:
  bool require(LinearForms& forms, size_t i, int64_t index) {
    if (forms.factor(i) == 0) return forms.value(i) == index;
    steps_ -= forms.cost();
    return forms.require(i, index);
  }

  std::optional<std::vector<int64_t>> decide(const LinearForms& forms) {
    ask();
    std::optional<size_t> fewest;
    std::vector<int64_t> left;
    for (size_t i = 0; i < entries_.size(); ++i) {
      steps_ -= static_cast<int64_t>(1 + forms.free() / 4);
      const auto& choices = table_[entries_[i]].choices;
      const int64_t factor = forms.factor(i);
      // The equations determine the entry's index: it must be one of its choices.
      if (factor == 0) {
        if (!std::binary_search(choices.begin(), choices.end(), forms.value(i)))
          return std::nullopt;
        continue;
      }
      // An entry with very many choices will not be the one with fewest.
      if (fewest && choices.size() > kMostToCount) continue;
      std::vector<int64_t> own;
      for (const int64_t index : choices) {
        if (fewest && own.size() >= left.size()) break;
        --steps_;
        // The index steps by multiples of `factor` over all solutions: other choices are out of
        // reach.
        if (checked_sub(index, forms.value(i)) % factor == 0) own.push_back(index);
      }
      if (fewest && own.size() >= left.size()) continue;
      if (own.empty()) return std::nullopt;
      fewest = i;
      left = std::move(own);
    }
    if (!fewest) return std::vector(forms.particular(), forms.particular() + forms.unknowns());
    // Backtracking over the entry with fewest choices left.
    for (const int64_t index : left) {
      if (steps_ < 0) return std::nullopt;
      LinearForms next = forms;
      if (!require(next, *fewest, index)) continue;
      if (auto found = decide(next)) return found;
    }
    return std::nullopt;
  }

  const ValueTable& table_;
  std::span<const size_t> entries_;
  int64_t& steps_;
};

}  // namespace

std::optional<std::vector<int64_t>> strides_for(const ValueTable& table,
                                                std::span<const size_t> entries,
                                                const std::vector<int64_t>& extents,
                                                int64_t& steps) {
  return Strides(table, entries, steps).find(extents);
}

}  // namespace lay
