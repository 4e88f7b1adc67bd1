#pragma once

// Inside the algebra: what the values of a known layout should fill, axis by axis, and what they
// leave out.

#include <optional>
#include <vector>

#include "frontend/algebra/claims/known.h"

namespace lay {

// One part of a shape that an axis of the layout addresses (or none does: then its values stay at
// 0).
struct Side {
  std::optional<size_t> axis;
  int64_t extent;
  int64_t radix;  // what a step adds to the 1-D index of the shape
};

// The sides of a shape of known numbers; one side of its whole size for integer strides. Refusal
// "coordinate-rank" if an axis leads to no part of the shape.
std::vector<Side> sides_of(const Known& known, const Tuple& shape);

// The smallest index at which the part along the side leaves low .. high; nothing if none does.
std::optional<int64_t> first_outside(const Known& known, size_t axis, Wide low, Wide high);
std::optional<int64_t> first_outside(const Known& known, const std::vector<Side>& sides);

// The smallest index of the shape that is no value.
struct Missing {
  Tri answer;  // yes: `index` is missing
  int64_t index = 0;
};
Missing first_missing(const Known& known, const std::vector<Side>& sides);

// Returns the extent n of the blocks that the swizzle permutes within themselves: indices k*n to
// k*n + n-1 stay there, and none leaves 0 .. m-1 for a multiple m of n. The bits that are changed
// lie inside; those that are only read may lie above.
int64_t swizzle_block(const Swizzle& s);

// The swizzle that a composed layout ends with; Refusal "no-swizzle" of the operation where it ends
// with a layout.
const Swizzle& outer_swizzle(const char* operation, const Composed& a);

}  // namespace lay
