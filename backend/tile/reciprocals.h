// Divisions by values of a row.
#pragma once

#include <vector>

#include "frontend/sema/kernel/kernel.h"

namespace lay::tile {

// Returns the kernel with x / r as x * (1 / r), where r is one value a row and the result is
// rounded to 16 bits or fewer: a division a row in place of one an element.
//
// Law: the product is within 1.5 ulp of f32 of the quotient, and rounding to the output's type
// loses 2^13 times that. A subnormal r, whose reciprocal may be infinite, is scaled by 2^64, and so
// is the product. Below a reduction divisions stay: what they round to goes on into a sum.
sema::Kernel multiply_by_reciprocals(const sema::Kernel& kernel,
                                     const std::vector<sema::IndexId>& columns);

}  // namespace lay::tile
