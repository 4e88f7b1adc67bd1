// Constant folding of one element function: what it gives where its operands' nodes already say so.
#pragma once

#include <span>
#include <variant>

#include "backend/ir/ir.h"

namespace lay::ir {

struct NotFolded {};
struct IsOperand {
  int index;
};
// Nothing, one of the operands, or a Constant or Size.
using Folded = std::variant<NotFolded, IsOperand, Expr>;

// Law: where it folds, the result equals the function on every value of the operands.
// Floating-point arithmetic is never folded (x*1.0 is x, but x+0.0 is not x for -0.0), integers are
// folded exactly and only where the result fits its type; `and`, `or` and `select` on a known
// condition take their arm. Sizes stay sizes: M*N/4 is one Size.
Folded fold(ElementFunction function, std::span<const Expr* const> operands);

// Returns true if an integer fits the type: -2^31 .. 2^31-1 for s32.
bool fits(std::int64_t value, ElementType type);

}  // namespace lay::ir
