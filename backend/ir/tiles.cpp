#include "backend/ir/tiles.h"

namespace lay::ir {

namespace {

Tuple along(const Tuple& stride, int mode) {
  if (stride.is_tuple()) {
    std::vector<Tuple> modes;
    for (const Tuple& inner : stride.modes()) modes.push_back(along(inner, mode));
    return Tuple(std::move(modes));
  }
  return stride.is_basis() && stride.path() == std::vector<int>{mode} ? Tuple(stride.value()) : Tuple(0);
}

}  // namespace

Layout tile_coordinate(const Layout& order, int mode) {
  return Layout(order.shape, along(order.stride, mode));
}

}  // namespace lay::ir
