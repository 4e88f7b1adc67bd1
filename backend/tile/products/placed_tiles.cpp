#include "backend/tile/products/placed_tiles.h"

#include <algorithm>
#include <utility>

#include "backend/tile/products/product.h"
#include "backend/tile/products/tile_order.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::tile {

namespace {

// The layout at these sizes.
Layout known(const Layout& layout, const Binding& sizes) {
  const auto sized = [&](const Tuple& each) {
    const Int value(each.value().evaluate(sizes).value());
    return each.is_basis() ? Tuple::basis(value, each.path()) : Tuple(value);
  };
  return Layout(transform(layout.shape, sized), transform(layout.stride, sized));
}

}  // namespace

bool has_tail(const Program& program) {
  return program.is_bound() && program.is_product() && parts_of(program).sums->tail > 1;
}

std::vector<PlacedTile> tiles_by_layout(const Program& program, const Binding& sizes) {
  const Layout& order = program.grid->layout();
  const auto extents = leaves(order.shape), strides = leaves(order.stride);
  std::int64_t blocks = 1;
  for (const Tuple& extent : extents) blocks *= extent.value().evaluate(sizes).value();
  std::vector<PlacedTile> tiles;
  for (std::int64_t number = 0; number < blocks; ++number) {
    PlacedTile made{std::vector<std::int64_t>(program.axes.size(), 0)};
    std::int64_t rest = number;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const std::int64_t extent = extents[i].value().evaluate(sizes).value();
      if (strides[i].is_basis())
        made.at[static_cast<std::size_t>(strides[i].path()[0])] +=
            rest % extent * strides[i].value().evaluate(sizes).value();
      rest /= extent;
    }
    tiles.push_back(std::move(made));
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
  TileOrder order = grid.order;
  if (auto* layout = std::get_if<Layout>(&order)) *layout = known(*layout, sizes);
  const TilePlaces places(order, counts);
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
