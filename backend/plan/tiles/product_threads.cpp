#include "backend/plan/tiles/product_threads.h"

#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::plan {

namespace {

// The layout with other axes: f(axis).
template <class F>
Layout renamed(const Layout& layout, F&& f) {
  return Layout(layout.shape, transform(layout.stride, [&](const Tuple& stride) {
                  if (!stride.is_basis()) return stride;
                  return Tuple::basis(stride.value(), {f(static_cast<int>(stride.path()[0]))});
                }));
}

}  // namespace

Layout onto_axes(const Layout& operand, tile::AxisId outer, tile::AxisId k) {
  return renamed(operand, [&](int axis) { return axis == 0 ? outer : k; });
}

Layout from_axes(const Layout& threads, tile::AxisId outer) {
  return renamed(threads, [&](int axis) { return axis == outer ? 0 : 1; });
}

Layout on_axes(bool exchanged, const Layout& layout) {
  return exchanged ? renamed(layout, [](int axis) { return axis < 2 ? 1 - axis : axis; }) : layout;
}

tile::TileOrder on_axes(bool exchanged, const tile::TileOrder& order) {
  const auto* layout = std::get_if<Layout>(&order);
  return layout ? tile::TileOrder(on_axes(exchanged, *layout)) : order;
}

Layout with_slices(const Layout& of_slice, int slices, int tile, tile::AxisId k) {
  // 64 threads in 4 slices of a tile of 128 of k, onto (m,n,k):
  //   ((4,8),2):((2@1,1@0),16@1)        (((4,8),2),4):(((2@1,1@0),16@1),32@2)
  if (slices == 1) return of_slice;
  return Layout(
      tuple(tuple(of_slice.shape[0], slices), of_slice.shape[1]),
      tuple(tuple(of_slice.stride[0], Tuple::basis(tile / slices, {k})), of_slice.stride[1]));
}

Layout without_slices(const Layout& threads, int slices) {
  // The slices are the last mode of the threads, which is not there for one.
  if (slices == 1) return threads;
  return Layout(tuple(threads.shape[0][0], threads.shape[1]),
                tuple(threads.stride[0][0], threads.stride[1]));
}

}  // namespace lay::plan
