// Finds the elements of the output that the epilogue reads: C in alpha * sum + beta * C.
#pragma once

#include <vector>

#include "backend/plan/plan.h"

namespace lay::ir {

// A load of the assigned element, and when it is read: where `condition` has the value `when`, or
// always (-1). The condition is the same for all elements.
struct SourceOperand {
  sema::NodeId load = -1;
  sema::NodeId condition = -1;
  bool when = true;
};

// The loads of the assigned element whose condition does not depend on the element, so that
// neighbours can be read together; others are left to be read one by one. At most one.
std::vector<SourceOperand> source_operands(const sema::Kernel& kernel,
                                           const sema::Assignment& assignment);

// When that load is read, for some element: under a condition that does not depend on the element,
// else always.
SourceOperand when_read(const sema::Kernel& kernel, sema::NodeId load);

}  // namespace lay::ir
