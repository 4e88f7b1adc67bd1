#include "backend/tile/program.h"

#include "frontend/algebra/layouts/inner_layout.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::tile {

Int extent_of_all(const sema::Kernel& kernel, const std::vector<sema::IndexId>& indices) {
  Int extent = 1;
  for (const sema::IndexId index : indices) extent *= kernel.index(index).extent;
  return extent;
}

int Distribution::threads() const {
  return static_cast<int>(size(layout.shape[0]).value());
}

int Distribution::accesses() const {
  return static_cast<int>(size(layout.shape[1]).value()) / vector;
}

int Distribution::blocks() const {
  return layout.rank() == 3 ? static_cast<int>(size(layout.shape[2]).value()) : 1;
}

int Distribution::values(int axis) const {
  const auto extents = leaves(layout.shape[1]), strides = leaves(layout.stride[1]);
  int count = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const bool here = strides[i].is_basis() && strides[i].path()[0] == axis;
    if (here) count *= static_cast<int>(extents[i].value().value());
  }
  return count;
}

bool Distribution::along_rows() const {
  const Tuple first = leaves(layout.stride[1]).front();
  return first.is_basis() && first.path()[0] == row_axis;
}

int SharedTile::outer_extent() const {
  const Layout* inner = inner_layout(layout);
  return inner && inner->rank() > 0 ? static_cast<int>(size((*inner)[0].shape).value()) : 0;
}

bool Program::is_elementwise() const {
  std::size_t loops = 0;
  bool all_over_grid = true;
  for_each(body, [&](const Stmt& stmt) {
    const auto* loop = std::get_if<For>(&stmt.node);
    if (!loop) return;
    ++loops;
    all_over_grid = all_over_grid && loop->walk == Walk::grid;
  });
  return all_over_grid && loops > 0 && loops == axes.size();
}

}  // namespace lay::tile
