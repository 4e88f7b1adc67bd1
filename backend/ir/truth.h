// That a condition of a kernel holds, or does not.
#pragma once

#include <vector>

#include "backend/plan/plan.h"

namespace lay::ir {

// Equal truths compare equal although they are written otherwise: `x != y` holds where `x == y`
// does not (NaN included), and `not c` where c does not.
struct Truth {
  // The operands of an equality, or one condition.
  std::vector<sema::NodeId> of;
  bool holds = true;

  bool contradicts(const Truth& other) const { return of == other.of && holds != other.holds; }
  friend bool operator==(const Truth&, const Truth&) = default;
};

Truth truth(const sema::Kernel& kernel, sema::NodeId condition, bool holds);

}  // namespace lay::ir
