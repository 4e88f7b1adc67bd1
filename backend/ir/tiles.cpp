#include "backend/ir/tiles.h"

namespace lay::ir {

namespace {

Tuple along(const Tuple& stride, int mode) {
  if (stride.is_tuple()) {
    std::vector<Tuple> modes;
    for (const Tuple& inner : stride.modes()) modes.push_back(along(inner, mode));
    return Tuple(std::move(modes));
  }
  return stride.is_basis() && stride.path() == std::vector<int>{mode} ? Tuple(stride.value())
                                                                      : Tuple(0);
}

// The leaves of `values` where the shape's leaf is not 1.
void collect(const Tuple& shape, const Tuple& values, std::vector<Int>& out) {
  if (shape.is_tuple()) {
    for (int i = 0; i < shape.rank(); ++i) collect(shape[i], values[i], out);
  } else if (!shape.value().is(1)) {
    out.push_back(values.value());
  }
}

}  // namespace

Layout tile_coordinate(const Layout& order, int mode) {
  return Layout(order.shape, along(order.stride, mode));
}

std::vector<Int> tile_extents(const Layout& order) {
  std::vector<Int> extents;
  collect(order.shape, order.shape, extents);
  return extents;
}

std::vector<Int> tile_strides(const Layout& order, int mode) {
  std::vector<Int> strides;
  collect(order.shape, along(order.stride, mode), strides);
  return strides;
}

}  // namespace lay::ir
