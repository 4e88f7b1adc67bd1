// The schedule entries that say in which order blocks, or clusters, take the tiles of the output
// (tile/products/tile_order.h).
#pragma once

#include <string>
#include <utility>

#include "backend/tile/products/tile_order.h"

namespace lay::plan {

using tile::places;
using tile::PlainArithmetic;
using tile::RowGroups;
using tile::TileOrder;
using tile::TilePlaces;

// "groups of at most 8 rows", or the layout.
std::string to_string(const TileOrder& order);

// The key and the value of the schedule entry that says it: `group_m` or `rasterization`.
std::pair<std::string, std::string> order_entry(const TileOrder& order);

}  // namespace lay::plan
