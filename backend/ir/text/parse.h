// The IR's text back as a kernel (the notation is described in print.h).
//
// parse(print(k)) prints as print(k). The parser takes well-formed text with declared names and
// well-typed expressions; the verifier decides whether the kernel makes sense.
#pragma once

#include <string_view>

#include "backend/ir/ir.h"
#include "backend/notation/cursor.h"

namespace lay::ir {

using notation::ParseError;

// Throws ParseError.
Kernel parse(std::string_view text);

}  // namespace lay::ir
