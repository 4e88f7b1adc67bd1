// find swizzle(write = W, read = R, bits = 16), find layout(...). Internal to this folder.
#pragma once

#include <string>
#include <string_view>

#include "frontend/sema/builtins/builtins.h"

namespace lay::sema {

// The text of `?find`.
inline constexpr std::string_view kFindSignature = "find swizzle(write = W, read = R, bits = 16)";
inline constexpr std::string_view kFindLaw =
    "the layout of a tile in shared memory with the fewest bank conflicts for its accesses";

// The best layout of a tile in shared memory for its accesses, as a record. `what` is the word
// after `find`.
Value find_value(Session& session, const std::string& what, Span what_span,
                 std::vector<CallArgument> arguments, Span whole);

}  // namespace lay::sema
