#include "backend/plan/sm80/bind_sm80.h"

#include <algorithm>

#include "backend/plan/scales/promotion.h"
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
tile::BoundOperand operand_of(const Sm80Gemm& gemm, const Sm80Operand& operand, tile::AxisId outer,
                              tile::AxisId k) {
  tile::BoundOperand made;
  made.shared.layout = operand.shared;
  made.shared.stages = gemm.stages;
  made.threads = tile::Distribution{onto_axes(operand.threads, outer, k), operand.vector,
                                    operand.along_k ? k : outer};
  made.vector = operand.vector;
  made.vector_mode = operand.vector_mode;
  made.async = operand.async;
  made.fragment_copy = operand.fragment.copy;
  // The atom reads registers, whatever memory has.
  made.fragment = outer == tile::row_axis ? gemm.mma.a_type : gemm.mma.b_type;
  made.converted = operand.converted;
  return made;
}

// And back. `factor` is what the product multiplies: the load, or casts of it.
Sm80Operand operand_of(const tile::Program& product, const tile::Mma& mma,
                       const tile::ProductParts::Operand& way, sema::NodeId factor,
                       tile::AxisId outer) {
  const sema::Atom& atom = *mma.atom;
  const tile::Tile& shared = product.tile(way.shared);
  const tile::Distribution& threads = *product.tile(way.load->dst).threads;
  Sm80Operand operand;
  operand.load = product.tile(way.load->src).value;
  operand.value = factor;
  operand.converted = std::holds_alternative<tile::Map>(way.read->node);
  operand.outer = product.axis(outer).indices.front();
  operand.vector_mode = way.load->vector_mode;
  operand.along_k = threads.along != outer;
  operand.vector = way.load->vector;
  if (way.load->dst == way.shared) operand.async = shared.filled_by;
  operand.threads = from_axes(threads.layout, outer);
  operand.shared = shared.shared->layout;
  // Shared memory has elements as they are stored, so that their width is that of memory.
  const int element = bits(shared.element);
  const bool rows = outer == tile::row_axis;
  // The fragment's tile says by which copy warps read it; which rows lanes name to it follows from
  // the layouts of the copy and of the atom.
  const auto& copy = product.tile(rows ? mma.a : mma.b).filled_by;
  operand.fragment = fragment_from(
      rows ? atom.a : atom.b, {atom.shape[rows ? 0 : 1], atom.shape[2]}, operand.along_k, element,
      copy ? std::span(&*copy, 1) : std::span<const sema::CopyInstruction>());
  read_together(operand.fragment, element);
  return operand;
}

}  // namespace

tile::Program bind_sm80(const sema::KernelPtr& kernel, const Sm80Gemm& gemm) {
  const auto k = static_cast<tile::AxisId>(2 + gemm.batch.size());
  tile::BoundProduct how;
  how.tile = gemm.tile;
  how.threads = {with_slices(gemm.accumulators, gemm.groups[2], gemm.tile[2], k), 1, -1};
  // A block takes one tile, all of its threads multiply and copy.
  how.grid = {gemm.order, gemm.threads()};
  how.atom = gemm.mma;
  how.interval = gemm.promotion_interval;
  how.copies = gemm.copies;
  how.operands = {operand_of(gemm, gemm.a, tile::row_axis, k),
                  operand_of(gemm, gemm.b, tile::column_axis, k)};
  for (std::size_t i = 0; i < gemm.vectors.size(); ++i) {
    const auto& at = kernel->assignments[i].indices;
    const auto along_n = std::ranges::find(at, gemm.n) - at.begin();
    // Accumulators lie side by side along n only.
    const int vector = gemm.vectors[i];
    how.outputs.push_back({vector > 1 ? static_cast<int>(along_n) : 0, vector});
  }
  return tile::bind_product(
      kernel, {gemm.contraction, gemm.m, gemm.n, gemm.k, gemm.batch, gemm.a.load, gemm.b.load},
      how);
}

Sm80Gemm sm80_of(const tile::Program& product) {
  const tile::ProductParts parts = tile::parts_of(product);
  const tile::Product formed = tile::product_of(product);
  const auto number = [](const Tuple& extent) { return static_cast<int>(extent.value().value()); };
  Sm80Gemm gemm;
  gemm.contraction = formed.sum;
  gemm.m = formed.m;
  gemm.n = formed.n;
  gemm.k = formed.k;
  gemm.batch = formed.batch;
  gemm.mma = *parts.mma->atom;
  gemm.tile = {product.axis(tile::row_axis).tile, product.axis(tile::column_axis).tile,
               product.axis(tile::summed_axis_of(product)).tile};
  const int slices = tile::slices_of(product);
  gemm.accumulators = without_slices(product.threads->layout, slices);
  // (lanes of the atom, warps along (m, n))
  const Tuple& warps = gemm.accumulators.shape[0][1];
  gemm.groups = {number(warps[0]), number(warps[1]), slices, 1};
  gemm.stages = product.tile(parts.operands[0].shared).shared->stages;
  gemm.order = product.grid->order;
  gemm.promotion_interval = parts.mma->interval;
  gemm.copies = product.copies;
  // Intervals are added up in the type of the sum, which the atom's may be narrower than.
  gemm.total = product.tile(parts.mma->out).element;
  const sema::Kernel& kernel = *product.kernel;
  const tile::Factors factors = *tile::factors_of(kernel, formed.sum, formed.a, formed.b);
  // What is multiplied beside A and B is constant in groups of k.
  for (const sema::NodeId other : factors.others)
    gemm.scales.push_back(product_scale(kernel, gemm, *group_scale(kernel, other, gemm.k)));
  gemm.a = operand_of(product, *parts.mma, parts.operands[0], factors.a, tile::row_axis);
  gemm.b = operand_of(product, *parts.mma, parts.operands[1], factors.b, tile::column_axis);
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
