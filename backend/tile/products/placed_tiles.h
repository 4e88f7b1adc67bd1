// The tiles of a bound program in the order in which its blocks take them, for the interpreter.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/tile/program.h"
#include "frontend/algebra/integers/int.h"

namespace lay::tile {

struct PlacedTile {
  std::vector<std::int64_t> at;  // by axis: a tile's number, of a cluster's tiles together
  bool is_cut = false;           // a tile of a last wave that is not whole, whose sum is in parts
};

// Whether tiles of a last wave are cut into parts of the sum (a loop's `tail`).
bool has_tail(const Program& program);

// Of a program whose order is a layout; coordinates may lie outside of the extents.
std::vector<PlacedTile> tiles_by_layout(const Program& program, const Binding& sizes);

// Of a product with a tail. `extents` are those of its axes.
std::vector<PlacedTile> tiles_in_waves(const Program& program, const Binding& sizes,
                                       const std::vector<std::int64_t>& extents);

}  // namespace lay::tile
