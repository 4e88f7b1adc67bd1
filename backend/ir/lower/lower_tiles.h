// The common parts of families with one tile a block: the block's tile, and the places of operands.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "backend/ir/lower/lower_parts.h"

namespace lay::ir {

// The tile of this block by an order, block -> (tile m, tile n, batch...): the body sees its
// coordinates, and runs only where the tile begins inside the output. `tile` has the extents of a
// tile along m and n.
struct TileOrder {
  const Layout& order;
  sema::IndexId m = -1, n = -1;
  const std::vector<sema::IndexId>& batch;
  std::array<int, 2> tile{};
};
void with_tile(Declared& declared, const TileOrder& tiles,
               const std::function<void(const std::vector<Term>&)>& body);

// The element of a loaded tensor where its bare indices have these values.
Ref element_at(const Declared& declared, sema::NodeId load,
               const std::vector<std::pair<sema::IndexId, Term>>& indices);

}  // namespace lay::ir
