#include "backend/tile/roles/pipeline.h"

#include <algorithm>

#include "backend/tile/chained_products.h"
#include "backend/tile/products/product.h"
#include "backend/tile/rows_ahead.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

namespace {

Completion completion_of(const Tile& shared) {
  if (shared.shared->by_tma()) return Completion::mbarrier;
  return shared.filled_by ? Completion::group : Completion::barrier;
}

class ProductPipelines {
 public:
  explicit ProductPipelines(const Program& product) : product_(product), parts_(parts_of(product)) {
    if (product.warpgroups && has_warpgroup_atom(product))
      consumers_ = product.warpgroups->consumers;
  }

  std::vector<Pipeline> run() {
    operands();
    if (parts_.sums->parts > 1) sums();
    // Inputs by TMA are on their way from before the products on; threads copy theirs when a part
    // begins.
    std::vector<TileId> ahead, at_once, outputs;
    for (const Copy* copy : parts_.inputs)
      if (const auto& shared = product_.tile(copy->dst).shared)
        (shared->by_tma() ? ahead : at_once).push_back(copy->dst);
    for (const Copy* copy : parts_.stores)
      if (product_.tile(copy->src).shared) outputs.push_back(copy->src);
    behind("inputs", Pipeline::Moves::inputs, ahead);
    behind("inputs_by_threads", Pipeline::Moves::inputs, at_once);
    behind("outputs", Pipeline::Moves::outputs, outputs);
    return std::move(made_);
  }

 private:
  // A tile of the rows is the same for all blocks of the cluster along the columns, which each copy
  // a part of it for all of them.
  void operands() {
    Pipeline k{
        product_.axis(parts_.sums->axis).name, Pipeline::Moves::operands, parts_.sums->axis, {}};
    const auto add = [&](const ProductParts::Operand& operand, std::size_t side) {
      const Tile& shared = product_.tile(operand.shared);
      const Completion completion = completion_of(shared);
      const bool multicast = completion == Completion::mbarrier;
      k.tiles.push_back(
          {operand.shared, completion, multicast ? product_.grid->cluster[1 - side] : 1});
      k.stages = shared.shared->stages;
    };
    add(parts_.operands[0], 0);
    add(parts_.operands[1], 1);
    for (const ProductParts::Further& each : parts_.further) add(each.operand, 1);
    // Sums of an interval are waited for before they are added to the totals, unless another set of
    // accumulators takes the next ones meanwhile.
    const bool waits_at_once = parts_.mma->interval > 0 && parts_.mma->sets == 1;
    if (has_warpgroup_atom(product_) && !waits_at_once) k.late = 1;
    made_.push_back(std::move(k));
  }

  // Each warpgroup that multiplies gives its sums to those of the same number in the other blocks;
  // threads of CUDA cores do so as a block.
  void sums() {
    Pipeline sums{"sums", Pipeline::Moves::sums, -1, {}};
    sums.tiles.push_back({parts_.mma->out, Completion::mbarrier, parts_.sums->parts});
    sums.apart = consumers_;
    made_.push_back(std::move(sums));
  }

  // Adds tiles that go through shared memory behind the sums, part by part.
  void behind(const char* name, Pipeline::Moves moves, const std::vector<TileId>& tiles) {
    if (tiles.empty()) return;
    Pipeline made{name, moves, -1, {}};
    for (const TileId id : tiles) {
      const Tile& tile = product_.tile(id);
      Completion completion = completion_of(tile);
      if (moves == Pipeline::Moves::outputs && completion == Completion::mbarrier)
        completion = Completion::bulk;
      made.tiles.push_back({id, completion, 1});
      made.stages = tile.shared->stages;
    }
    made.apart = consumers_ * (moves_parts_by_warps(product_) ? warps_of_warpgroup : 1);
    made_.push_back(std::move(made));
  }

  const Program& product_;
  const ProductParts parts_;
  int consumers_ = 1;  // warpgroups that multiply; 1 where threads are not told apart so
  std::vector<Pipeline> made_;
};

std::vector<Pipeline> pipelines_of_chain(const Program& program) {
  const ChainedProducts parts = chained_products_of(program);
  std::vector<Pipeline> made;
  const auto add = [&](TileId id, AxisId axis) {
    const Tile& tile = program.tile(id);
    made.push_back({program.kernel->loaded(tile.value).name,
                    Pipeline::Moves::operands,
                    axis,
                    {{id, completion_of(tile), 1}},
                    tile.shared->stages});
  };
  add(parts.scores->a, row_axis);
  add(parts.scores->b, column_axis);
  add(parts.result->b, column_axis);
  return made;
}

// Tiles of rows that are copied ahead, and what is the same for all rows.
std::vector<Pipeline> pipelines_of_rows(const Program& program) {
  Pipeline rows{program.axis(row_axis).name, Pipeline::Moves::operands, row_axis, {}};
  Pipeline once{program.axis(column_axis).name, Pipeline::Moves::operands, -1, {}};
  for (std::size_t id = 0; id < program.tiles.size(); ++id) {
    const Tile& tile = program.tiles[id];
    if (!is_ahead(tile)) continue;
    Pipeline& made = has_rows(tile) ? rows : once;
    made.tiles.push_back({static_cast<TileId>(id), completion_of(tile), 1});
    made.stages = tile.shared->stages;
  }
  std::vector<Pipeline> made;
  for (Pipeline* each : {&rows, &once})
    if (!each->tiles.empty()) made.push_back(std::move(*each));
  return made;
}

}  // namespace

bool Pipeline::has(Completion completion) const {
  return std::ranges::any_of(tiles,
                             [&](const StagedTile& each) { return each.completion == completion; });
}

bool is_by_warpgroups(const Stmt& stmt) {
  const auto* mma = std::get_if<Mma>(&stmt.node);
  return mma && mma->atom && mma->atom->kind == "warpgroup";
}

bool has_warpgroup_atom(const Program& program) {
  bool found = false;
  for_each(program.body, [&](const Stmt& stmt) { found = found || is_by_warpgroups(stmt); });
  return found;
}

// wgmma gives a warp 16 whole rows. Along the instruction's columns TMA can store the rows of one
// warp, along its rows a box needs columns of all four. With parts of the loop a warpgroup waits
// for its sums as a whole.
bool moves_parts_by_warps(const Program& product) {
  const ProductParts parts = parts_of(product);
  if (parts.sums->parts > 1) return false;
  const sema::Kernel& kernel = *product.kernel;
  const sema::IndexId columns =
      product.axis(parts.exchanged ? row_axis : column_axis).indices.front();
  const auto runs_along_columns = [&](const SharedTile& shared, auto index_of_mode) {
    return shared.by_tma() &&
           index_of_mode(static_cast<std::size_t>(shared.order.front())) == columns;
  };
  const auto is_apart = [&](const Copy* copy) {
    const Tile &to = product.tile(copy->dst), &from = product.tile(copy->src);
    if (to.space == Space::global) {
      const auto& at = kernel.assignments[static_cast<std::size_t>(to.assignment)].indices;
      return from.space == Space::shared &&
             runs_along_columns(*from.shared, [&](std::size_t mode) { return at[mode]; });
    }
    if (to.space != Space::shared) return true;
    const auto& at = kernel.load(from.value).coordinate;
    return runs_along_columns(*to.shared,
                              [&](std::size_t mode) { return sema::bare_index(kernel, at[mode]); });
  };
  return std::ranges::all_of(parts.stores, is_apart) && std::ranges::all_of(parts.inputs, is_apart);
}

std::vector<Pipeline> pipeline(const Program& program) {
  if (program.is_chain()) return pipelines_of_chain(program);
  if (program.is_product()) return ProductPipelines(program).run();
  if (program.sms > 0) return pipelines_of_rows(program);
  return {};
}

}  // namespace lay::tile
