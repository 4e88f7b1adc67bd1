#include "backend/plan/simt/bind_simt.h"

#include <array>

#include "backend/plan/copies.h"
#include "backend/tile/products/product.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::plan {

namespace {

// A layout onto (outer, k) as one onto two axes of a program:
//   ((2,64),(4,1)):((4@1,1@0),(1@1,64@0))     of B, on columns n = axis 1 and k = axis 2, is
//   ((2,64),(4,1)):((4@2,1@1),(1@2,64@1))
Layout onto(const Layout& layout, const std::array<tile::AxisId, 2>& axes) {
  return Layout(layout.shape, transform(layout.stride, [&](const Tuple& stride) {
                  if (!stride.is_basis()) return stride;
                  return Tuple::basis(stride.value(),
                                      {axes.at(static_cast<std::size_t>(stride.path()[0]))});
                }));
}

// The threads of all slices, one behind the other: (thread of a slice, slice).
Layout sums_of(const SimtGemm& gemm, tile::AxisId k) {
  const Layout& of_slice = gemm.accumulators;
  if (gemm.groups[2] == 1) return of_slice;
  const Tuple step = Tuple::basis(gemm.tile[2] / gemm.groups[2], {k});
  return Layout(tuple(tuple(of_slice.shape[0], gemm.groups[2]), of_slice.shape[1]),
                tuple(tuple(of_slice.stride[0], step), of_slice.stride[1]));
}

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
  made.threads =
      tile::Distribution{onto(copy.threads, {outer, k}), copy.vector, copy.along_k ? k : outer};
  made.vector = copy.vector;
  made.vector_mode = copy.vector_mode;
  made.store_vector = shared_store_vector(kernel, gemm, copy);
  return made;
}

}  // namespace

tile::Program bind_simt(const sema::KernelPtr& kernel, const SimtGemm& gemm) {
  const auto k = static_cast<tile::AxisId>(2 + gemm.batch.size());
  tile::BoundProduct how;
  how.tile = gemm.tile;
  how.threads = {sums_of(gemm, k), 1, -1};
  how.grid = {gemm.order, gemm.threads() + (gemm.ring() ? gemm.producer_threads() : 0)};
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

}  // namespace lay::plan
