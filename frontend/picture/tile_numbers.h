#pragma once

// Which tile an element of the result of a divide lies in, or which copy an element of a product:
// the number that the rest of its coordinate counts, colexicographically.
//
//     zipped_divide((6,8):(1,6), (2,4)) = ((2,4),(3,2)):...      the tile of ((1,0),(2,1)) is 2 +
//     3*1

#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/picture/draw.h"

namespace lay::picture {

class TileNumbers {
 public:
  // Nothing for an operation that makes no tiles.
  static std::optional<TileNumbers> of_operation(const Operation& operation);

  // Returns the tile, or the copy, of the element at a 1-D index of the result.
  std::int64_t of(std::int64_t index) const;
  // Returns, for a product, the index in the operand of the element that stands there, which the
  // parts of the coordinate that do not number the copy count.
  std::int64_t element(std::int64_t index) const;
  // A product repeats its operand: the tiles are copies of it.
  bool are_copies() const { return copies_; }

 private:
  struct Part {
    std::vector<int> path;  // in the result's coordinate
    std::int64_t block;     // its steps in one tile
  };

  Tuple shape_;
  std::vector<Part> parts_;
  bool copies_ = false;
};

}  // namespace lay::picture
