// Layouts with basis strides, seen along one axis.
//
//   along((2,8,2):(1@0,1@1,2@0), 0) = (2,8,2):(1,0,2)      lane -> row
//   along((2,8,2):(1@0,1@1,2@0), 1) = (2,8,2):(0,1,0)      lane -> column
#pragma once

#include <array>

#include "frontend/algebra/layouts/layout.h"

namespace lay {

// Law: along(L, i)(c) is coordinate i of L(c). Paths into a mode of a coordinate do not count: they
// give 0.
Layout along(const Layout& basis, int axis);

// The strides on axis i times factors[i].
Layout scaled(const Layout& basis, const std::array<int, 2>& factors);

// Every stride is 0 or on one of the axes 0 .. axes-1.
bool is_onto_axes(const Layout& basis, int axes);

}  // namespace lay
