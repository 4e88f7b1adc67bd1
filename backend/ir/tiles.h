// The coordinates of a persistent loop's tiles.
#pragma once

#include "frontend/algebra/layout.h"

namespace lay::ir {

// One coordinate of the tile, as a layout of integers from the linear index:
//   tile_coordinate((8,N):(1@0,1@1), 1)    (8,N):(0,1)
Layout tile_coordinate(const Layout& order, int mode);

}  // namespace lay::ir
