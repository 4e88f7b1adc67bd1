#pragma once

// One mode of a layout laid along a side of a grid: its positions, their digits, their coordinates.
//
//     Side s((2,3):(1,4), 6)      headers: the digits of 3:4 over the digits of 2:1
//     s.coordinate(3) == "(1,1)"

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/algebra/layouts/layout.h"
#include "frontend/picture/picture.h"

namespace lay::picture {

class Side {
 public:
  // The first `count` positions of the mode, whose extents are literal.
  Side(const Layout& mode, int count);

  int count() const { return static_cast<int>(coordinates_.size()); }
  const std::string& coordinate(int position) const { return coordinates_[position]; }
  // The values of the mode at its positions.
  const std::vector<Tuple>& values() const { return values_; }
  const Axis& axis() const { return axis_; }

 private:
  std::vector<std::string> coordinates_;
  std::vector<Tuple> values_;
  Axis axis_;
};

// Headers that count from `first` in steps: one level without a caption.
Axis counting(int count, std::int64_t first, std::int64_t step, const std::string& caption);

}  // namespace lay::picture
