#include "backend/plan/model/chained.h"

#include <algorithm>

#include "backend/plan/mask.h"
#include "backend/plan/mask_range.h"
#include "backend/plan/model/predict.h"
#include "backend/tile/chained_products.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

Prediction predict_chained(const tile::Program& program, const Target& target) {
  constexpr int rest = 40, barrier_bytes = 8;
  const auto axis = [&](tile::AxisId id) -> const tile::Axis& { return program.axis(id); };
  const int columns = axis(tile::column_axis).tile, result_columns = axis(tile::result_axis).tile;
  Prediction made;
  const int budget = program.warpgroups->registers[1];
  // Accumulators of both products, and the weights in 16 bits.
  const int held = columns / 2 + columns / 4 + result_columns / 2 + rest;
  made.registers = std::min(target.thread_registers, budget > 0 ? budget : held);
  for (const tile::Tile& each : program.tiles) {
    if (!each.shared) continue;
    std::int64_t elements = each.shared->stages;
    for (const tile::AxisId id : each.axes) elements *= axis(id).tile;
    made.shared_bytes += static_cast<int>(elements * bits(each.element) / 8) +
                         2 * barrier_bytes * each.shared->stages;
  }
  made.blocks = 1;
  const Int rows = axis(tile::row_axis).extent * axis(tile::batch_axis).extent;
  const Int both = axis(tile::summed_axis).extent + axis(tile::result_axis).extent;
  const Int walked = axis(tile::column_axis).extent * both * 2;
  const Int tiles = ceil_div(axis(tile::row_axis).extent, axis(tile::row_axis).tile) *
                    axis(tile::batch_axis).extent;
  made.flops = rows * axis(tile::column_axis).extent * both * 2;
  made.cache_bytes = tiles * walked + rows * both * 2;
  return made;
}

ChainedWork chained_work(const tile::Program& program, const Target& target) {
  const auto parts = tile::chained_products_of(program);
  const double rows = program.axis(tile::row_axis).tile,
               columns = program.axis(tile::column_axis).tile;
  ChainedWork made;
  for (const tile::Mma* mma : {parts.scores, parts.result}) {
    const sema::Atom& atom = *mma->atom;
    const bool scores = mma == parts.scores;
    // Whole atoms are paid for: of the padded extents.
    const double work = rows * columns *
                        program.axis(scores ? tile::summed_axis : tile::result_axis).tile /
                        (static_cast<double>(atom.shape[0]) * atom.shape[1] * atom.shape[2]);
    made.products += work * instruction_clocks(atom, target);
  }
  if (parts.maximum) made.weights = rows * columns / target.exponentials;
  return made;
}

namespace {

// A tile of rows and columns, in numbers.
struct TileOfWeights {
  const tile::Program& program;
  const Binding& sizes;
  std::int64_t row_tile = 0, column_tile = 0;

  std::int64_t number(std::int64_t value) const { return value; }
  std::int64_t size(const Int& value) const { return value.evaluate(sizes).value(); }
  bool truth(bool value) const { return value; }
  std::optional<std::pair<std::int64_t, std::int64_t>> range(sema::IndexId index) const {
    for (const tile::AxisId id : {tile::row_axis, tile::column_axis}) {
      const tile::Axis& axis = program.axis(id);
      if (axis.indices != std::vector{index}) continue;
      // The indices of one tile, clipped to the output.
      const std::int64_t first = (id == tile::row_axis ? row_tile : column_tile) * axis.tile;
      return std::pair{first, std::min(first + axis.tile, size(axis.extent)) - 1};
    }
    // The first of a batch stands for all.
    return std::pair<std::int64_t, std::int64_t>{0, 0};
  }
};

}  // namespace

std::optional<LiveColumns> live_columns(const tile::Program& program, const Binding& sizes) {
  constexpr std::int64_t most_tiles = std::int64_t{1} << 20;
  const auto count = [&](tile::AxisId id) {
    const tile::Axis& axis = program.axis(id);
    const auto extent = axis.extent.evaluate(sizes);
    return extent ? std::optional((*extent + axis.tile - 1) / axis.tile) : std::nullopt;
  };
  const auto rows = count(tile::row_axis), columns = count(tile::column_axis);
  if (!rows || !columns) return std::nullopt;
  const auto masked = mask_of_weights(program);
  if (!masked) return LiveColumns{*rows * *columns, *columns, *columns};
  if (*rows * *columns > most_tiles) return std::nullopt;
  // Under j <= i tiles of 128 rows and columns have 1, 2, 3, ... live ones.
  LiveColumns made{0, 0, *columns};
  TileOfWeights tile{program, sizes};
  MaskRange range(*program.kernel, tile);
  for (; tile.row_tile < *rows; ++tile.row_tile) {
    std::int64_t live = 0;
    for (tile.column_tile = 0; tile.column_tile < *columns; ++tile.column_tile)
      live += range.maybe(masked->mask.condition, masked->mask.when);
    made.all += live;
    made.most = std::max(made.most, live);
  }
  return made;
}

}  // namespace lay::plan
