#include "backend/tile/products/tile_order.h"

#include <map>

#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::tile {

TileOrder at_sizes(const TileOrder& order, const Binding& sizes) {
  const auto* layout = std::get_if<Layout>(&order);
  if (!layout) return order;
  std::map<DimId, Int> numbers;
  for (const auto& [dim, value] : sizes) numbers.emplace(dim, value);
  return substitute(*layout, numbers);
}

// Groups have a place for each tile.
Int places(const TileOrder& order, const std::vector<Int>& grid) {
  if (const auto* layout = std::get_if<Layout>(&order)) return size(*layout);
  Int all = 1;
  for (const Int& extent : grid) all *= extent;
  return all;
}

TilePlaces::TilePlaces(const TileOrder& order, std::vector<std::int64_t> grid)
    : grid_(std::move(grid)) {
  if (const auto* layout = std::get_if<Layout>(&order)) {
    // Listed once, because a forecast asks for each place.
    for (std::size_t axis = 0; axis < grid_.size(); ++axis)
      listed_.push_back(values(along(*layout, static_cast<int>(axis))));
    size_ = static_cast<std::int64_t>(listed_.at(0).size());
    return;
  }
  PlainArithmetic numbers;
  groups_ = grouped_rows(numbers, grid_.at(0), grid_.at(1), std::get<RowGroups>(order));
  size_ = places(order, std::vector<Int>(grid_.begin(), grid_.end())).value();
}

std::optional<std::vector<std::int64_t>> TilePlaces::at(std::int64_t place) const {
  std::vector<std::int64_t> tile;
  if (groups_) {
    // Batches are the slowest digits of a place, m and n those of the rest.
    const std::int64_t of_batch = grid_[0] * grid_[1];
    // The digits of a kernel, in numbers.
    PlainArithmetic numbers;
    const auto [m, n] = tile_at(numbers, *groups_, place % of_batch);
    tile = {m, n};
    std::int64_t batches = place / of_batch;
    for (std::size_t axis = 2; axis < grid_.size(); ++axis) {
      tile.push_back(batches % grid_[axis]);
      batches /= grid_[axis];
    }
    return tile;
  }
  for (std::size_t axis = 0; axis < grid_.size(); ++axis) {
    tile.push_back(listed_[axis][static_cast<std::size_t>(place)]);
    if (tile.back() < 0 || tile.back() >= grid_[axis]) return std::nullopt;
  }
  return tile;
}

}  // namespace lay::tile
