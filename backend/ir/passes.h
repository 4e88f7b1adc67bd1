// The passes that run over a lowered kernel (lower.h lists them in order). Each keeps the meaning
// of the kernel.
#pragma once

#include "backend/ir/ir.h"

namespace lay::ir {

// Drops every `let` and `shuffle` whose variable nothing reads, and those that only they needed.
// Reads of memory in them go with them.
void drop_unused_variables(Kernel& kernel);

}  // namespace lay::ir
