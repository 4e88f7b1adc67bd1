// The passes that run over a lowered kernel (lower.h lists them in order). Each keeps the meaning
// of the kernel.
#pragma once

#include "backend/ir/ir.h"

namespace lay::ir {

// A `let` that nothing reads goes, and those that only it needed. Reads of memory in it go with it.
void drop_unused_variables(Kernel& kernel);

}  // namespace lay::ir
