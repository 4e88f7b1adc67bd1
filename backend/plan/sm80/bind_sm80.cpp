#include "backend/plan/sm80/bind_sm80.h"

#include <algorithm>

#include "backend/plan/scales/promotion.h"
#include "backend/plan/sm80/sm80_operand.h"
#include "backend/plan/tiles/product_threads.h"
#include "backend/tile/products/factors.h"
#include "backend/tile/products/product.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::plan {

namespace {

// An operand on its way to the atom:
//
//   copy tile_W[n,k] <- W[n,k] by 16 along mode 1      threads, vector, vector_mode; by cp.async
//   map fragment_W[n,k] = bf16(tile_W[n,k])            converted, as the atom's type
tile::BoundOperand operand_of(const Sm80Gemm& gemm, const Sm80Operand& operand, int side,
                              tile::AxisId k) {
  const tile::AxisId outer = axis_of(gemm.swap_ab, side);
  tile::BoundOperand made;
  made.shared.layout = operand.shared;
  made.shared.own = operand.own;
  made.shared.stages = gemm.stages;
  made.threads = tile::Distribution{onto_axes(operand.threads, outer, k), operand.vector,
                                    operand.along_k ? k : outer};
  made.vector = operand.vector;
  made.vector_mode = operand.vector_mode;
  made.async = operand.async;
  made.fragment_copy = operand.fragment.copy;
  // The atom reads registers, whatever memory has.
  made.fragment = side == 0 ? gemm.mma.a_type : gemm.mma.b_type;
  made.converted = operand.converted;
  return made;
}

// And back, without its fragment, which takes the order of k of both operands. `factor` is what the
// product multiplies: the load, or casts of it.
Sm80Operand operand_of(const tile::Program& product, const tile::ProductParts::Operand& way,
                       sema::NodeId factor, tile::AxisId outer) {
  const tile::Tile& held = product.tile(way.load->dst);
  const tile::Distribution& threads = *held.threads;
  Sm80Operand operand;
  operand.load = product.tile(way.load->src).value;
  operand.value = factor;
  operand.converted = std::holds_alternative<tile::Map>(way.read->node);
  operand.outer = product.axis(outer).indices.front();
  operand.vector_mode = way.load->vector_mode;
  operand.along_k = threads.along != outer;
  operand.vector = way.load->vector;
  operand.threads = from_axes(threads.layout, outer);
  if (way.load->dst == way.shared) operand.async = held.filled_by;
  operand.shared = product.tile(way.shared).shared->layout;
  operand.own = product.tile(way.shared).shared->own;
  return operand;
}

// The fragment's tile says by which copy warps read it; which rows lanes name to it follows from
// the layouts of the copy and of the atom, and from the order of k.
void add_fragment(Sm80Operand& operand, const tile::Program& product, const tile::Mma& mma,
                  const Sm80Gemm& gemm, int side) {
  // Shared memory has elements as they are stored, so that their width is that of memory.
  const int element = bits(product.kernel->loaded(operand.load).element);
  const auto& copy = product.tile(side == 0 ? mma.a : mma.b).filled_by;
  operand.fragment =
      fragment_in_order(gemm, operand, side, element,
                        copy ? std::span(&*copy, 1) : std::span<const sema::CopyInstruction>());
}

}  // namespace

tile::Program bind_sm80(const sema::KernelPtr& kernel, const Sm80Gemm& gemm) {
  const auto k = static_cast<tile::AxisId>(2 + gemm.batch.size());
  tile::BoundProduct how;
  const bool exchanged = gemm.swap_ab;
  const auto tile = on_axes(exchanged, gemm.tile[0], gemm.tile[1]);
  how.tile = {tile[0], tile[1], gemm.tile[2]};
  how.threads = {
      with_slices(on_axes(exchanged, gemm.accumulators), gemm.groups[2], gemm.tile[2], k), 1, -1};
  // A block takes one tile, all of its threads multiply and copy.
  how.grid = {on_axes(exchanged, gemm.order), gemm.threads()};
  how.atom = gemm.mma;
  how.exchanged = exchanged;
  how.interval = gemm.promotion_interval;
  how.copies = gemm.copies;
  how.operands = on_axes(exchanged, operand_of(gemm, gemm.a, 0, k), operand_of(gemm, gemm.b, 1, k));
  for (std::size_t i = 0; i < gemm.vectors.size(); ++i) {
    const auto& at = kernel->assignments[i].indices;
    const auto along_n = std::ranges::find(at, gemm.n) - at.begin();
    // Accumulators lie side by side along n only.
    const int vector = gemm.vectors[i];
    how.outputs.push_back({vector > 1 ? static_cast<int>(along_n) : 0, vector});
  }
  const auto indices = on_axes(exchanged, gemm.m, gemm.n);
  const auto loads = on_axes(exchanged, gemm.a.load, gemm.b.load);
  return tile::bind_product(
      kernel, {gemm.contraction, indices[0], indices[1], gemm.k, gemm.batch, loads[0], loads[1]},
      how);
}

Sm80Gemm sm80_of(const tile::Program& product) {
  const tile::ProductParts parts = tile::parts_of(product);
  const tile::Product formed = tile::product_of(product);
  const auto number = [](const Tuple& extent) { return static_cast<int>(extent.value().value()); };
  Sm80Gemm gemm;
  gemm.contraction = formed.sum;
  const bool exchanged = gemm.swap_ab = parts.exchanged;
  const auto indices = on_axes(exchanged, formed.m, formed.n);
  gemm.m = indices[0];
  gemm.n = indices[1];
  gemm.k = formed.k;
  gemm.batch = formed.batch;
  gemm.mma = *parts.mma->atom;
  const auto tile =
      on_axes(exchanged, product.axis(tile::row_axis).tile, product.axis(tile::column_axis).tile);
  gemm.tile = {tile[0], tile[1], product.axis(tile::summed_axis_of(product)).tile};
  const int slices = tile::slices_of(product);
  gemm.accumulators = on_axes(exchanged, without_slices(product.threads->layout, slices));
  // (lanes of the atom, warps along (m, n))
  const Tuple& warps = gemm.accumulators.shape[0][1];
  gemm.groups = {number(warps[0]), number(warps[1]), slices, 1};
  gemm.stages = product.tile(parts.operands[0].shared).shared->stages;
  gemm.order = on_axes(exchanged, product.grid->order);
  gemm.promotion_interval = parts.mma->interval;
  gemm.copies = product.copies;
  // Intervals are added up in the type of the sum, which the atom's may be narrower than.
  gemm.total = product.tile(parts.mma->out).element;
  const sema::Kernel& kernel = *product.kernel;
  const tile::Factors factors = *tile::factors_of(kernel, formed.sum, formed.a, formed.b);
  // What is multiplied beside A and B is constant in groups of k.
  for (const sema::NodeId other : factors.others)
    gemm.scales.push_back(product_scale(kernel, gemm, *group_scale(kernel, other, gemm.k)));
  const auto ways = on_axes(exchanged, parts.operands[0], parts.operands[1]);
  const auto values = on_axes(exchanged, factors.a, factors.b);
  gemm.a = operand_of(product, ways[0], values[0], axis_of(exchanged, 0));
  gemm.b = operand_of(product, ways[1], values[1], axis_of(exchanged, 1));
  add_fragment(gemm.a, product, *parts.mma, gemm, 0);
  add_fragment(gemm.b, product, *parts.mma, gemm, 1);
  gemm.vectors.assign(parts.stores.size(), 1);
  // Widths are listed by assignment, whatever order the stores have.
  for (const tile::Copy* store : parts.stores)
    gemm.vectors[static_cast<std::size_t>(product.tile(store->dst).assignment)] = store->vector;
  return gemm;
}

// Hopper's wgmma is of warpgroups, and CUDA cores have no atom.
bool is_sm80(const tile::Program& program) {
  if (!program.is_product()) return false;
  const auto& atom = tile::parts_of(program).mma->atom;
  return atom && atom->kind == "warp";
}

std::optional<Sm80Gemm> sm80_of(const Variant& variant) {
  const tile::Program* program = scheduled_program(variant);
  return program && is_sm80(*program) ? std::optional(sm80_of(*program)) : std::nullopt;
}

}  // namespace lay::plan
