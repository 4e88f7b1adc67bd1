#pragma once

// the values of a literal layout, each with the indices that give it.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "frontend/algebra/layouts/layout.h"

namespace lay {

// The values that a layout R with R(a(i)) == i has to give, as a table over positive numbers: R
// mirrors at 0, so that R(-x) == i says R(x) == -i.
//
//     (2,2):(1,-3)      R(1) is 1, R(3) is -2, R(2) is -3
//     (2,2):(1,1)       R(1) is 1 or 2, R(2) is 3
class ValueTable {
 public:
  // Nothing if a is not literal, has more than 2^20 elements, or values of basis strides or outside
  // 64 bits.
  static std::optional<ValueTable> of(const Layout& a);

  struct Entry {
    // Positive, ascending.
    int64_t at;
    std::span<const int64_t> choices;  // ascending
    bool is_unique() const { return choices.size() == 1; }
  };
  size_t count() const { return begins_.size() - 1; }
  Entry operator[](size_t k) const {
    return {at_[k], std::span(choices_).subspan(begins_[k], begins_[k + 1] - begins_[k])};
  }
  // A mode of extent above 1 and a stride that is not 0; the others have no part in an index of a
  // value but 0.
  struct Step {
    // index/place % extent is its digit.
    int64_t extent, stride, place;
  };
  const std::vector<Step>& modes() const { return modes_; }
  // The magnitudes of a's strides, and of what its modes cover.
  const std::vector<int64_t>& steps() const { return steps_; }
  int64_t largest() const { return at_.empty() ? 0 : at_.back(); }
  // Both x and -x are values: then nothing undoes a, for R(x) and R(-x) would both be indices.
  bool has_mirrored() const { return mirrored_; }

 private:
  std::vector<int64_t> at_;
  std::vector<size_t> begins_{0};
  std::vector<int64_t> choices_;
  std::vector<Step> modes_;
  std::vector<int64_t> steps_;
  bool mirrored_ = false;
};

// Strides of a layout of these extents, and of an open one above them, that gives each of the
// entries one of its indices. None: there are none, or the steps were used up. Numbers beyond 64
// bits throw Refusal "overflow".
std::optional<std::vector<int64_t>> strides_for(const ValueTable& table,
                                                std::span<const size_t> entries,
                                                const std::vector<int64_t>& extents,
                                                int64_t& steps);

}  // namespace lay
