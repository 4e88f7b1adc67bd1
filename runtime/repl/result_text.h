// The text of results as the REPL shows them.
#pragma once

#include <string>
#include <string_view>

#include "frontend/sema/values/value.h"

namespace lay::runtime {

// Returns the printed value with the headers of a layout's table coloured.
std::string coloured(std::string_view printed);

// Returns the text with each line but the first cut to `columns`, "..." at the cut; unchanged for 0
// columns.
std::string clipped(const std::string& text, int columns);

// Returns the kind of a value with its rank, depth, units or dimensions: "a layout of rank 2 and
// depth 1".
std::string type_text(const sema::Value& value);

}  // namespace lay::runtime
