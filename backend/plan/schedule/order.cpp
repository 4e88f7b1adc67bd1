#include "backend/plan/schedule/order.h"

#include <algorithm>
#include <array>
#include <map>

#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

namespace {

const Int& extent(const sema::Kernel& kernel, sema::IndexId index) {
  return kernel.indices[static_cast<std::size_t>(index)].extent;
}

// Sizes that give tm tiles along the first axis that is tiled, tn along the second, and so on in
// turn, where these range over dims of their own; axes of single elements have 2, and all other
// dims are large.
// (tm - 1) * tile + 1 elements are the fewest that need tm tiles: the last tile is ragged, which is
// where orders go wrong.
Binding sizes_for(const sema::Kernel& kernel, const std::vector<TileAxis>& axes, std::int64_t tm,
                  std::int64_t tn) {
  constexpr std::int64_t batch = 2, large = std::int64_t{1} << 20;
  Binding binding;
  for (const sema::Dim& dim : kernel.dims) binding[*dim.symbol.dim_id()] = large;
  for (const TileAxis& axis : axes) {
    if (auto dim = extent(kernel, axis.index).dim_id(); dim && axis.tile == 1)
      binding[*dim] = batch;
    if (auto dim = axis.segments.dim_id()) binding[*dim] = batch;
  }
  bool first = true;
  for (const TileAxis& axis : axes) {
    if (axis.tile == 1) continue;
    if (auto dim = extent(kernel, axis.index).dim_id())
      binding[*dim] = ((first ? tm : tn) - 1) * axis.tile + 1;
    first = !first;
  }
  return binding;
}

bool admitted(const sema::Kernel& kernel, const Binding& binding) {
  return std::all_of(kernel.guards.begin(), kernel.guards.end(), [&](const Guard& guard) {
    return guard.path.evaluate(binding) != true || guard.predicate.evaluate(binding) != false;
  });
}

// Visits of every real tile, tile m fastest; nothing if there are too many to count.
// The order may have places outside the grid, which blocks skip; inside, every tile is counted.
std::optional<std::vector<std::int64_t>> visits(const Layout& order,
                                                const std::vector<std::int64_t>& counts) {
  constexpr std::int64_t most = 1 << 16;
  std::int64_t all = 1;
  for (std::int64_t count : counts) all *= count;
  const Int blocks = size(order);
  // A search for a counterexample is bounded: what is too large to count is not refused.
  if (all > most || !blocks.is_literal() || blocks.value() > most) return std::nullopt;
  std::vector<std::int64_t> result(static_cast<std::size_t>(all), 0);
  const TilePlaces places(order, counts);
  for (std::int64_t place = 0; place < places.size(); ++place) {
    const auto at = places.at(place);
    if (!at) continue;
    std::int64_t tile = 0, step = 1;
    for (std::size_t axis = 0; axis < counts.size(); ++axis) {
      tile += (*at)[axis] * step;
      step *= counts[axis];
    }
    ++result[static_cast<std::size_t>(tile)];
  }
  return result;
}

std::optional<OrderFault> fault_at(const sema::Kernel& kernel, const Layout& order,
                                   const std::vector<TileAxis>& axes, const Binding& binding) {
  // With numbers for the dims an order like (8,ceil_div(N,128),ceil_div(M,1024)):(1@0,1@1,8@0) is a
  // layout of known extents, whose values can be listed.
  std::map<DimId, Int> numbers;
  for (const auto& [dim, value] : binding) numbers.emplace(dim, value);
  std::vector<std::int64_t> counts;
  std::map<DimId, std::string> used;
  for (const Int& count : tile_grid(kernel, axes)) {
    counts.push_back(count.evaluate(binding).value_or(1));
    count.collect_dims(used);
  }
  const auto seen = visits(substitute(order, numbers), counts);
  if (!seen) return std::nullopt;
  const auto wrong =
      std::find_if(seen->begin(), seen->end(), [](std::int64_t n) { return n != 1; });
  if (wrong == seen->end()) return std::nullopt;
  OrderFault fault;
  for (const sema::Dim& dim : kernel.dims) {
    if (used.contains(*dim.symbol.dim_id()))
      fault.sizes.emplace_back(dim.name, binding.at(*dim.symbol.dim_id()));
  }
  std::int64_t rest = wrong - seen->begin();
  for (std::int64_t count : counts) {
    // Tile numbers count m fastest, as `visits` does.
    fault.tile.push_back(rest % count);
    rest /= count;
  }
  fault.visits = *wrong;
  return fault;
}

// Returns true if the layout maps blocks to tiles and visits every tile exactly once.
bool check_order(const sema::Kernel& kernel, const Tiling& tiling, const Layout& order,
                 const Span& where, std::vector<Problem>& problems) {
  const auto problem = [&](std::string message,
                           std::vector<std::pair<std::string, std::string>> notes) {
    notes.emplace_back("works", "group_m = " + std::to_string(usual_rows));
    problems.push_back(
        {"schedule-rasterization", std::move(message), where, {}, std::move(notes), {}});
    return false;
  };
  // Coordinates of a tile: m, n, then one for each batch index.
  const int axes = 2 + static_cast<int>(tiling.batch.size());
  if (!is_onto_axes(order, axes)) {
    return problem("the rasterization " + order.to_string() + " does not map blocks to the " +
                       std::to_string(axes) + " coordinates of a tile",
                   {});
  }
  const auto fault = order_fault(kernel, order, tile_axes(tiling));
  if (!fault) return true;
  std::string sizes, tile;
  for (const auto& [name, value] : fault->sizes)
    sizes += (sizes.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  for (std::int64_t at : fault->tile) tile += (tile.empty() ? "(" : ",") + std::to_string(at);
  return problem(
      "the rasterization " + order.to_string() + " does not visit every tile exactly once",
      {{"at", sizes + ": tile " + tile + ") is visited " +
                  (fault->visits == 0 ? "by no block"
                                      : "by " + std::to_string(fault->visits) + " blocks")}});
}

}  // namespace

int rows_for_clusters(const Tiling& tiling, bool masked) {
  // The counts behind these numbers stand in order.h, the timings in tests/bench/results/notes.md
  // (rows of 512 in fours).
  constexpr int of_masks = 3, of_high = 4, high = 512, large = 512 * 168;
  const auto [m, n] = tiling.tile;
  return masked && n >= m ? of_masks : m >= high && m * n >= large ? of_high : usual_rows;
}

Int tiles(const sema::Kernel& kernel, sema::IndexId index, int tile) {
  return ceil_div(extent(kernel, index), tile);
}

// Rows in segments may fill one row of tiles more for each: the most that there can be.
std::vector<Int> tile_grid(const sema::Kernel& kernel, const std::vector<TileAxis>& axes) {
  std::vector<Int> grid;
  for (const TileAxis& axis : axes)
    grid.push_back(tiles(kernel, axis.index, axis.tile) + axis.segments);
  return grid;
}

Int places(const sema::Kernel& kernel, const TileOrder& order, const Tiling& tiling) {
  return places(order, tile_grid(kernel, tile_axes(tiling)));
}

Tiling tiling_of(const SimtGemm& gemm) {
  return {gemm.m, gemm.n, gemm.batch, {gemm.tile[0], gemm.tile[1]}};
}

Tiling tiling_of(const Sm80Gemm& gemm) {
  return {gemm.m, gemm.n, gemm.batch, {gemm.tile[0], gemm.tile[1]}};
}

// Of clusters, whose blocks take the tiles side by side.
Tiling tiling_of(const Sm90Gemm& gemm) {
  return {gemm.m, gemm.n, gemm.batch, gemm.cluster_tile(),
          gemm.segments ? gemm.segments->count : Int(0)};
}

std::optional<TileOrder> taken_order(const sema::Kernel& kernel, const Tiling& tiling,
                                     const std::optional<TileOrder>& said, int rows,
                                     const Span& where, std::vector<Problem>& problems) {
  // Groups have every tile once, whatever the sizes (tile_order.h). A layout of a script is tried.
  const TileOrder order = said.value_or(RowGroups{rows});
  const auto* layout = std::get_if<Layout>(&order);
  if (layout && !check_order(kernel, tiling, *layout, where, problems)) return std::nullopt;
  return order;
}

std::vector<TileAxis> tile_axes(const Tiling& tiling) {
  std::vector<TileAxis> axes{{tiling.m, tiling.tile[0], tiling.segments},
                             {tiling.n, tiling.tile[1]}};
  for (sema::IndexId index : tiling.batch) axes.push_back({index, 1});
  return axes;
}

std::optional<OrderFault> order_fault(const sema::Kernel& kernel, const Layout& order,
                                      const std::vector<TileAxis>& axes) {
  // Below, at and above the usual group of 8 rows and its double: 49 grids are tried, which is no
  // proof for all sizes.
  constexpr std::array<std::int64_t, 7> sides{1, 2, 3, 5, 8, 9, 17};
  for (std::int64_t tm : sides) {
    for (std::int64_t tn : sides) {
      const Binding binding = sizes_for(kernel, axes, tm, tn);
      if (!admitted(kernel, binding)) continue;
      if (auto fault = fault_at(kernel, order, axes, binding)) return fault;
    }
  }
  return std::nullopt;
}

std::string OrderFault::words() const {
  std::string at, where;
  for (const auto& [name, value] : sizes)
    at += (at.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  for (std::int64_t coordinate : tile)
    where += (where.empty() ? "(" : ",") + std::to_string(coordinate);
  return at + ": tile " + where + ") is visited " +
         (visits == 0 ? "by no block" : "by " + std::to_string(visits) + " blocks");
}

}  // namespace lay::plan
