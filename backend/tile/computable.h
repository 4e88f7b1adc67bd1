// Defines which values a pass may compute ahead of the place where the kernel asks for them.
//
//   y[i] = if i > 0 then sum[k](x[i-1] * x[k]) else 7       the sum of i = 0 would read x[-1]
#pragma once

#include <optional>
#include <vector>

#include "frontend/sema/kernel/kernel.h"

namespace lay::tile {

// Returns by node whether its value may be computed wherever its indices run: it has no element at
// a computed coordinate and no integer division, or the kernel asks for it at every place anyway,
// not only in an arm of a selection.
std::vector<char> computable_everywhere(const sema::Kernel& kernel);

// A node of the kernel that is a truth value, and which of both it is.
struct Premise {
  sema::NodeId condition = -1;
  bool holds = true;

  friend bool operator==(const Premise&, const Premise&) = default;
};

// Returns by node under which premises the kernel asks for its value, the outermost first:
//
//   if a then (if b then x else y) else z       x under a, b; y under a, not b; z under not a
//
// Nothing where it asks for the value at two places under different premises, or nowhere.
std::vector<std::optional<std::vector<Premise>>> premises(const sema::Kernel& kernel);

}  // namespace lay::tile
