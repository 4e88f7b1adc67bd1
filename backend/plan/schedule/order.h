// The order in which blocks visit the tiles of the output.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "backend/plan/plan.h"
#include "backend/plan/schedule/schedule.h"

namespace lay::plan {

// The indices that tiles divide, and the extents of a tile.
struct Tiling {
  sema::IndexId m = -1, n = -1;
  std::vector<sema::IndexId> batch;
  std::array<int, 2> tile{};
  Int segments = 0;  // that the rows lie in: each may take one row of tiles more
};

// Groups of `usual_rows` rows of tiles: down a group's rows, then along n, then the next group,
// then batches. Neighbouring blocks share operands in L2.
//   (8, tiles_n, ceil_div(tiles_m,8)) : (1@0, 1@1, 8@0)
constexpr int usual_rows = 8;
Layout default_order(const sema::Kernel& kernel, const Tiling& tiling, int rows = usual_rows);

// The same for clusters that each take tile after tile, which find as many tiles each only if few
// of the places in the order lie outside the output: no more rows than there are.
//   (min(8,tiles_m), tiles_n, ceil_div(tiles_m,8)) : (1@0, 1@1, 8@0)
Layout persistent_order(const sema::Kernel& kernel, const Tiling& tiling, int rows);

// Rows of a group for clusters where nothing is said: eight. Large tiles of at least 512 rows, from
// 512 x 168 elements on, go in rows of four: what clusters have at a time is then about as high as
// wide. Where only tiles on one side of a line have products, rows in threes give clusters more
// alike numbers of them unless tiles are higher than wide: 66 clusters have at most 9 of the 528 in
// a triangle of 32 x 32, and in eights 10; but 6 and 5 of the 272 in one of 16 x 32.
int rows_for_clusters(const Tiling& tiling, bool masked);

// An axis of the tiles' grid: an output index, and the elements a tile.
struct TileAxis {
  sema::IndexId index = -1;
  int tile = 1;
  Int segments = 0;  // as in Tiling
};
std::vector<TileAxis> tile_axes(const Tiling& tiling);

// Where an order fails: with these sizes, that tile is visited by no block or by two.
struct OrderFault {
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  std::vector<std::int64_t> tile;
  std::int64_t visits = 0;
  std::string words() const;  // "M = 1, N = 129: tile (0,1) is visited by no block"
};

// Tries the order on outputs of 1 to 17 tiles a side, as far as the kernel's guards allow the
// sizes. The first fault.
std::optional<OrderFault> order_fault(const sema::Kernel& kernel, const Layout& order,
                                      const std::vector<TileAxis>& axes);

// The layout that a schedule says, or groups of as many rows as it says, else of `rows`, by one of
// the functions above. Nothing, and a problem "schedule-rasterization" at `where`, if the layout
// does not map blocks to tiles or does not visit every tile exactly once.
using Grouped = Layout (*)(const sema::Kernel& kernel, const Tiling& tiling, int rows);
std::optional<Layout> taken_order(const sema::Kernel& kernel, const Tiling& tiling,
                                  const std::optional<OrderEntry>& said, Grouped grouped, int rows,
                                  const Span& where, std::vector<Problem>& problems);

// Tiles along an index, and rows of tiles.
Int tiles(const sema::Kernel& kernel, sema::IndexId index, int tile);
Int rows_of_tiles(const sema::Kernel& kernel, const Tiling& tiling);

}  // namespace lay::plan
