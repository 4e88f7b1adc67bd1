// find swizzle(write = W, read = R, bits = 16), find layout(...). Internal to this folder.
#pragma once

#include <string>

#include "frontend/sema/builtins.h"

namespace lay::sema {

// The best layout of a tile in shared memory for its accesses, as a record. `what` is the word after `find`.
Value find_value(Session& session, const std::string& what, Span what_span, std::vector<CallArgument> arguments,
                 Span whole);

}  // namespace lay::sema
