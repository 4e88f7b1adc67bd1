// From coordinates to offsets in elements.
#pragma once

#include <map>

#include "backend/interpret/warp.h"
#include "frontend/algebra/layouts/layout.h"

namespace lay::interpret {

// The layout with numbers for its symbols. Integer strides; a swizzle may be the outer function of
// a composed layout. Nothing if the layout is neither, or its numbers leave 64 bits or make offsets
// below 0.
std::optional<Placement> place(const AnyLayout& layout, const Binding& sizes);

// The same layout for a 1-D coordinate of the whole: one mode with the leaves of all.
Placement one_mode(Placement placement);

// The value of a layout of numbers at a 1-D coordinate within one mode, and of the offset and
// swizzle on top.
std::int64_t within(const Mode& mode, std::int64_t coordinate);
inline std::int64_t offset_of(const Placement& placement, std::int64_t sum) {
  sum += placement.offset;
  return placement.swizzle ? (*placement.swizzle)(sum) : sum;
}

// Elements that a vector access takes beyond the first, along one of the access's modes.
struct Run {
  int mode = 0;
  int count = 1;
};

// The offset of every lane of the mask; the others get 0. Faults where a coordinate, or one of the
// run, lies outside.
void offsets(Warp& warp, const Instruction& at, const Access& access, Run run, std::int64_t* out);

// Registers: one offset for the warp, taken from its first lane at work. Element e of the run is at
// the offset with the coordinate moved by e.
std::int64_t register_offset(Warp& warp, const Instruction& at, const Access& access, Run run,
                             int e);

// The coordinate of a lane, for messages.
std::vector<std::int64_t> coordinate_of(Warp& warp, const Access& access, int lane);

}  // namespace lay::interpret
