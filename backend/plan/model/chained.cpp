#include "backend/plan/model/chained.h"

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

double chained_clocks(const tile::Program& program, const Target& target, double columns) {
  constexpr double exponentials = 16;  // a clock of an SM
  const auto parts = tile::chained_products_of(program);
  const int rows = program.axis(tile::row_axis).tile;
  double products = 0;
  for (const tile::Mma* mma : {parts.scores, parts.result}) {
    const sema::Atom& atom = *mma->atom;
    const bool scores = mma == parts.scores;
    // Whole atoms are paid for: of the padded extents.
    const double work = rows * columns *
                        program.axis(scores ? tile::summed_axis : tile::result_axis).tile /
                        (static_cast<double>(atom.shape[0]) * atom.shape[1] * atom.shape[2]);
    products += work * instruction_clocks(atom, target);
  }
  const double weights = parts.maximum ? rows * columns / exponentials : 0;
  // One of two warpgroups multiplies while the other weighs, less what neither hides.
  return products + weights / 2;
}

}  // namespace lay::plan
