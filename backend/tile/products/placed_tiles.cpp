#include "backend/tile/products/placed_tiles.h"

#include <algorithm>
#include <utility>

#include "backend/tile/products/product.h"
#include "backend/tile/products/tile_order.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::tile {

bool has_tail(const Program& program) {
  return program.is_bound() && program.is_product() && parts_of(program).sums->tail > 1;
}

std::vector<PlacedTile> tiles_by_layout(const Program& program, const Binding& sizes) {
  const TileOrder order = at_sizes(program.grid->order, sizes);
  const auto& layout = std::get<Layout>(order);
  std::vector<PlacedTile> tiles;
  for (std::size_t axis = 0; axis < program.axes.size(); ++axis) {
    const auto along_axis = values(along(layout, static_cast<int>(axis)));
    tiles.resize(along_axis.size());
    for (std::size_t place = 0; place < tiles.size(); ++place)
      tiles[place].at.push_back(along_axis[place]);
  }
  return tiles;
}

std::vector<PlacedTile> tiles_in_waves(const Program& program, const Binding& sizes,
                                       const std::vector<std::int64_t>& extents) {
  const ProductParts parts = parts_of(program);
  const Grid& grid = *program.grid;
  std::vector<std::int64_t> counts;  // of all axes but the last, which is summed over
  for (std::size_t axis = 0; axis + 1 < extents.size(); ++axis) {
    const std::int64_t tile = program.axes[axis].tile * (axis < 2 ? grid.cluster[axis] : 1);
    counts.push_back((extents[axis] + tile - 1) / tile);
  }
  std::vector<PlacedTile> tiles;
  if (std::ranges::count(counts, 0) > 0) return tiles;
  // Groups are of the instruction's rows (Grid).
  const bool exchanged = parts.exchanged && std::holds_alternative<RowGroups>(grid.order);
  if (exchanged) std::swap(counts[0], counts[1]);
  const TilePlaces places(at_sizes(grid.order, sizes), counts);
  const int blocks = grid.cluster[0] * grid.cluster[1], cut = parts.sums->tail;
  const std::int64_t clusters =
      clusters_of_launch(std::int64_t{program.warpgroups->sms / blocks}, places.size(), cut);
  PlainArithmetic numbers;
  const auto tail = tail_units(numbers, places.size(), clusters, cut);
  for (std::int64_t place = 0; place < places.size(); ++place) {
    auto at = places.at(place);
    if (!at) continue;
    if (exchanged) std::swap((*at)[0], (*at)[1]);
    at->resize(extents.size(), 0);
    tiles.push_back({std::move(*at), place >= tail.whole});
  }
  return tiles;
}

}  // namespace lay::tile
