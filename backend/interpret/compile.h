// From a kernel and the values of its sizes to flat code. Expressions without reads are computed
// once where they are first needed and used again as long as that place dominates; the arms of
// `select` and the right sides of `and` and `or` are branched over where evaluating them might
// fault.
#pragma once

#include "backend/interpret/program.h"

namespace lay::interpret {

// Throws Stopped for what cannot be executed: a size that does not fit its type, memory beyond the
// limit, a layout that is not executed on the host.
Program compile(const ir::Kernel& kernel, const Binding& sizes,
                const std::vector<Argument>& arguments, const Options& options);

}  // namespace lay::interpret
