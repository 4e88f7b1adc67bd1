#include "backend/plan/simt/bind_simt.h"

#include "backend/plan/copies.h"
#include "backend/plan/simt/simt.h"
#include "backend/plan/tiles/product_threads.h"
#include "backend/tile/products/product.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::plan {

namespace {

tile::BoundOperand operand_of(const sema::Kernel& kernel, const SimtGemm& gemm,
                              const OperandCopy& copy, tile::AxisId outer, tile::AxisId k) {
  tile::BoundOperand made;
  made.shared.layout = copy.shared;
  made.shared.stages = gemm.stages;
  if (copy.boxes) {
    // Rows lie one behind the other, without a swizzle.
    constexpr int as_it_lies = 16;
    made.shared.span = as_it_lies;
    made.shared.order = copy.boxes->order;
    made.shared.box = copy.boxes->box;
    return made;
  }
  // The elements of an access are a thread's first values, side by side in memory.
  made.threads =
      tile::Distribution{onto_axes(copy.threads, outer, k), copy.vector, copy.along_k ? k : outer};
  made.vector = copy.vector;
  made.vector_mode = copy.vector_mode;
  made.store_vector = shared_store_vector(kernel, gemm, copy);
  return made;
}

// Reads the threads of a slice, ((lanes, groups), (lane tile and repeats along m, along n)), as
// accumulator_layout made them:
//   (((2,8,2),(2,2)),((4,2),(4,1))):...     lanes (2,8,2), groups (2,2), lane tile (4,4)
void read_threads(const tile::Distribution& threads, int slices, SimtGemm& gemm) {
  gemm.accumulators = without_slices(threads.layout, slices);
  const Layout of_slice = gemm.accumulators[0], values = gemm.accumulators[1];
  // Extents are literals: the planner lists every coordinate of a layout.
  const auto number = [](const Tuple& extent) { return static_cast<int>(extent.value().value()); };
  gemm.groups = {number(of_slice.shape[1][0]), number(of_slice.shape[1][1]), slices, 1};
  gemm.lane_tile = {number(values.shape[0][0]), number(values.shape[1][0]), 1};
  // Lanes count lane tiles, threads count elements: 4@0 of a lane tile of 4 rows is 1@0.
  gemm.lanes =
      Layout(of_slice.shape[0], transform(of_slice.stride[0], [&](const Tuple& stride) {
               if (!stride.is_basis()) return stride;
               const auto axis = static_cast<std::size_t>(stride.path()[0]);
               return Tuple::basis(stride.value().value() / gemm.lane_tile.at(axis), stride.path());
             }));
  gemm.lane_grid = lane_grid_of(gemm.lanes);
}

OperandCopy copy_of(const tile::Program& product, const tile::ProductParts::Operand& operand,
                    tile::AxisId outer) {
  const tile::Tile& shared = product.tile(operand.shared);
  OperandCopy copy;
  copy.value = shared.value;
  copy.load = product.tile(operand.load->src).value;
  copy.outer = product.axis(outer).indices.front();
  copy.shared = shared.shared->layout;
  if (shared.shared->by_tma()) {
    // No thread reads the tensor, so that there is nothing else to say.
    copy.boxes = TmaBoxes{shared.shared->order, shared.shared->box};
    return copy;
  }
  const tile::Distribution& threads = *product.tile(operand.load->dst).threads;
  copy.vector_mode = operand.load->vector_mode;
  copy.along_k = threads.along != outer;
  copy.vector = operand.load->vector;
  copy.threads = from_axes(threads.layout, outer);
  return copy;
}

}  // namespace

tile::Program bind_simt(const sema::KernelPtr& kernel, const SimtGemm& gemm) {
  const auto k = static_cast<tile::AxisId>(2 + gemm.batch.size());
  tile::BoundProduct how;
  how.tile = gemm.tile;
  how.threads = {with_slices(gemm.accumulators, gemm.groups[2], gemm.tile[2], k), 1, -1};
  how.grid = {gemm.order, gemm.threads() + (gemm.ring() ? gemm.producer_threads() : 0)};
  // Blocks take one tile each, so that no number of SMs is said.
  if (gemm.ring()) how.warpgroups = tile::Warpgroups{gemm.threads() / 128, gemm.registers, 0};
  how.blocks_per_sm = gemm.blocks_per_sm;
  how.operands = {operand_of(*kernel, gemm, gemm.a, tile::row_axis, k),
                  operand_of(*kernel, gemm, gemm.b, tile::column_axis, k)};
  for (const OutputStore& store : gemm.stores)
    how.outputs.push_back({store.vector_mode, store.vector});
  return tile::bind_product(
      kernel,
      {gemm.contraction, gemm.m, gemm.n, gemm.k, gemm.batch, gemm.a.load, gemm.b.load, gemm.parts},
      how);
}

SimtGemm simt_of(const tile::Program& product) {
  const tile::ProductParts parts = tile::parts_of(product);
  const tile::AxisId k = tile::summed_axis_of(product);
  const auto index = [&](tile::AxisId axis) { return product.axis(axis).indices.front(); };
  SimtGemm gemm;
  gemm.contraction = product.tile(parts.mma->out).value;
  gemm.m = index(tile::row_axis);
  gemm.n = index(tile::column_axis);
  gemm.k = index(k);
  for (tile::AxisId axis = tile::column_axis + 1; axis < k; ++axis)
    gemm.batch.push_back(index(axis));
  gemm.accumulator = product.tile(parts.mma->out).element;
  gemm.tile = {product.axis(tile::row_axis).tile, product.axis(tile::column_axis).tile,
               product.axis(k).tile};
  read_threads(*product.threads, tile::slices_of(product), gemm);
  gemm.stages = product.tile(parts.mma->a).shared->stages;
  gemm.parts = parts.sums->parts;
  gemm.a = copy_of(product, parts.operands[0], tile::row_axis);
  gemm.b = copy_of(product, parts.operands[1], tile::column_axis);
  for (const tile::Copy* store : parts.stores) {
    const int assignment = product.tile(store->dst).assignment;
    const auto& at = product.kernel->assignments[static_cast<std::size_t>(assignment)].indices;
    // The planner stores elements along n where memory runs along neither m nor n.
    const bool along_n = at[static_cast<std::size_t>(store->vector_mode)] == gemm.n;
    gemm.stores.push_back({assignment, store->vector_mode, along_n, store->vector});
  }
  gemm.order = product.grid->order;
  gemm.blocks_per_sm = product.blocks_per_sm;
  if (product.warpgroups) gemm.registers = product.warpgroups->registers;
  return gemm;
}

std::optional<SimtGemm> simt_of(const Variant& variant) {
  const tile::Program* program = scheduled_program(variant);
  const bool by_cores = program && program->is_product() && !tile::parts_of(*program).mma->atom;
  return by_cores ? std::optional(simt_of(*program)) : std::nullopt;
}

}  // namespace lay::plan
