#pragma once

// Inside the algebra: the modes of a symbolic layout along each axis of its values, and conditions
// over an order of them. Integer strides have one axis, with the empty path; basis strides one for
// each path.

#include <functional>
#include <optional>
#include <vector>

#include "frontend/algebra/layouts/layout.h"

namespace lay {

struct SymbolicMode {
  Int extent, stride;
};

struct SymbolicAxis {
  std::vector<int> path;
  // Last mode of the layout first: row-major is the commonest.
  std::vector<SymbolicMode> modes;
};

std::vector<SymbolicAxis> axes_of(const Layout& a);
// The same with the strides' magnitudes.
std::vector<SymbolicAxis> axes_without_signs(Facts& facts, const Layout& a);

// The condition on a mode when the modes before it reach as far as `reach`: their greatest value.
using Step = std::function<Predicate(const Int& reach, const SymbolicMode& mode)>;

// The order of the modes with the fewest conditions that are not proved; nothing if each order has
// one that never holds. At most 120 orders are tried, the ascending one first.
std::optional<std::vector<Predicate>> fewest_open(const Facts& facts,
                                                  const std::vector<SymbolicMode>& modes,
                                                  const Int& reach, const Step& step);

// The least value along the axis and the greatest, from 0.
struct Reach {
  Int low, high;
};
Reach reach_of(Facts& facts, const SymbolicAxis& axis);

}  // namespace lay
