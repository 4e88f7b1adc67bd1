#include "frontend/algebra/layouts/axes.h"

#include <algorithm>

#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay {

Layout along(const Layout& basis, int axis) {
  return Layout(basis.shape, transform(basis.stride, [&](const Tuple& d) {
                  // 2@0 is two steps along axis 0 and none along axis 1; a stride 0 none along
                  // either.
                  const bool here = d.is_basis() && d.path().size() == 1 && d.path()[0] == axis;
                  return here ? Tuple(d.value()) : Tuple(0);
                }));
}

Layout scaled(const Layout& basis, const std::array<int, 2>& factors) {
  return Layout(basis.shape, transform(basis.stride, [&](const Tuple& d) {
                  if (!d.is_basis()) return d;
                  return Tuple::basis(d.value() * factors.at(static_cast<std::size_t>(d.path()[0])),
                                      d.path());
                }));
}

bool is_onto_axes(const Layout& basis, int axes) {
  const auto strides = leaves(basis.stride);
  return std::all_of(strides.begin(), strides.end(), [&](const Tuple& d) {
    // A plain stride other than 0 belongs to no axis.
    if (!d.is_basis()) return d.is_literal(0);
    return d.path().size() == 1 && d.path()[0] < axes;
  });
}

}  // namespace lay
