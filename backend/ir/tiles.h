// The coordinates of a persistent loop's tiles.
#pragma once

#include <vector>

#include "frontend/algebra/layouts/layout.h"

namespace lay::ir {

// One coordinate of the tile, as a layout of integers from the linear index:
//   tile_coordinate((8,N):(1@0,1@1), 1)    (8,N):(0,1)
Layout tile_coordinate(const Layout& order, int mode);

// The digits of the linear index that are not always 0, fastest first: their extents, and how far
// each moves a coordinate.
//   tile_extents((8,N):(1@0,1@1))       8, N
//   tile_strides((8,N):(1@0,1@1), 1)    0, 1
std::vector<Int> tile_extents(const Layout& order);
std::vector<Int> tile_strides(const Layout& order, int mode);

}  // namespace lay::ir
