#pragma once

// Inside the algebra: inverses and complements of layouts into coordinates (basis strides). Each
// direction of the coordinates is a layout of integers, and what is known of those serves.
//
//     (4,8):(1@1,1@0) has the left inverse (8,4):(4,1): coordinate (j,i) -> index i + 4*j

#include "frontend/algebra/layouts/layout.h"

namespace lay {

// Law: R(a(i)) is an index of a, and a(R(a(i))) == a(i); R takes coordinates that nest as
// coshape(a).
Layout left_inverse_of_coordinates(Facts& facts, const Layout& a);
// Law: a(R(c)) == c for every coordinate c of R's shape, which goes as far along each direction as
// its steps are found.
Layout right_inverse_of_coordinates(Facts& facts, const Layout& a);
// Law: R gives coordinates of the shape, and no difference of two values of a is one of R but 0.
Layout complement_of_coordinates(Facts& facts, const Layout& a, const Tuple& shape);

}  // namespace lay
