// The order in which blocks visit the tiles of the output.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "backend/plan/plan.h"
#include "backend/plan/schedule/schedule.h"
#include "backend/plan/schedule/tile_order.h"
#include "backend/plan/simt/simt_gemm.h"
#include "backend/plan/sm80/sm80_gemm.h"
#include "backend/plan/sm90/sm90_gemm.h"

namespace lay::plan {

// The indices that tiles divide, and the extents of a tile.
struct Tiling {
  sema::IndexId m = -1, n = -1;
  std::vector<sema::IndexId> batch;
  std::array<int, 2> tile{};
  Int segments = 0;  // that the rows lie in: each may take one row of tiles more
};

// Rows of tiles in a group where nothing is said: tiles that are taken together share operands in
// L2.
constexpr int usual_rows = 8;

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

// The order that a schedule says, else groups of `rows`. Nothing, and a problem
// "schedule-rasterization" at `where`, if a layout does not map blocks to tiles or does not visit
// every tile exactly once.
std::optional<TileOrder> taken_order(const sema::Kernel& kernel, const Tiling& tiling,
                                     const std::optional<TileOrder>& said, int rows,
                                     const Span& where, std::vector<Problem>& problems);

// Tiles along an index; and along every axis.
Int tiles(const sema::Kernel& kernel, sema::IndexId index, int tile);
std::vector<Int> tile_grid(const sema::Kernel& kernel, const std::vector<TileAxis>& axes);

// The places of an order over these tiles.
Int places(const sema::Kernel& kernel, const TileOrder& order, const Tiling& tiling);

// How the tiles of a plan lie, in units of which its order is.
Tiling tiling_of(const SimtGemm& gemm);
Tiling tiling_of(const Sm80Gemm& gemm);
Tiling tiling_of(const Sm90Gemm& gemm);

}  // namespace lay::plan
