// Defines which values a pass may compute ahead of the place where the kernel asks for them.
//
//   y[i] = if i > 0 then sum[k](x[i-1] * x[k]) else 7       the sum of i = 0 would read x[-1]
#pragma once

#include <vector>

#include "frontend/sema/kernel/kernel.h"

namespace lay::tile {

// Returns by node whether its value may be computed wherever its indices run: it has no element at
// a computed coordinate and no integer division, or the kernel asks for it at every place anyway,
// not only in an arm of a selection.
std::vector<char> computable_everywhere(const sema::Kernel& kernel);

}  // namespace lay::tile
