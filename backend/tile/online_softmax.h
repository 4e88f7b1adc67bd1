// The law by which a maximum may be read before all of its values are known.
//
// Let m be the maximum of x over an axis, and s a sum over the same axis whose terms depend on m as
// exp(x - m) does. Where the axis is walked in parts, let m move from a to b when a part has come:
//
//   sum exp(x - b) * v   =   exp(a - b) * sum exp(x - a) * v
//
// so that (m, s) is a monoid: s is multiplied by exp(a - b), and goes on with the new maximum. At
// the end m is the maximum of all, and s the sum. Equal up to rounding; exactly equal in field
// mode.
//
// Reference: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.
#pragma once

#include "frontend/sema/kernel/kernel.h"

namespace lay::tile {

// Returns true if the node is exp(x - m), where m is the maximum of x.
bool is_exponential(const sema::Kernel& kernel, sema::NodeId id, sema::NodeId maximum);

// Returns true if a value is a multiple of exp(x - m): that times or divided by a value that does
// not depend on m, under casts between floating-point types.
bool is_multiple_of_exponential(const sema::Kernel& kernel, sema::NodeId id, sema::NodeId maximum);

}  // namespace lay::tile
