// The tiles of blocks and clusters by the plan's order, and the places of operands.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "backend/ir/lower/lower_parts.h"
#include "backend/plan/schedule/order.h"

namespace lay::ir {

// An order over the grid of tiles (tile_order.h) as statements: what all tiles share is computed
// where it is made, the rest where a tile is taken.
class TileScheduler {
 public:
  // `tile_rows`: the rows of the grid, where they are not those of the tiling. Not 0.
  TileScheduler(Declared& declared, const plan::TileOrder& order, const plan::Tiling& tiling,
                std::optional<Term> tile_rows = {});

  // The places of the order.
  Term places() const { return places_; }

  // The body sees the coordinates of the tile at a place, m, n, then batches. It does not run where
  // the place is empty.
  void with_tile(Term place, const std::function<void(const std::vector<Term>&)>& body);

 private:
  std::vector<Term> in_groups(Term place);
  std::vector<Term> by_layout(const Layout& layout, Term place);
  Term let(const std::string& name, Term value);

  Declared& declared_;
  Builder& b_;
  const plan::TileOrder& order_;
  std::vector<std::string> names_;  // of the coordinates
  std::vector<Term> grid_;          // tiles along each coordinate
  std::optional<plan::GroupedRows<Term>> groups_;
  Term of_batch_, places_;
};

// The blocks of a launch with one tile each.
Int blocks_of_tiles(const sema::Kernel& kernel, const plan::TileOrder& order,
                    const plan::Tiling& tiling);

// The element of a loaded tensor where its bare indices have these values.
Ref element_at(const Declared& declared, sema::NodeId load,
               const std::vector<std::pair<sema::IndexId, Term>>& indices);

}  // namespace lay::ir
