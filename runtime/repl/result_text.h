// How the REPL words and colours what it shows.
#pragma once

#include <string>
#include <string_view>

#include "frontend/sema/values/value.h"

namespace lay::runtime {

// What `print` writes for a value, with the headers of a layout's table coloured.
std::string coloured(std::string_view printed);

// Each line cut to so many columns, with "..." where something is missing; 0: as it is.
std::string clipped(const std::string& text, int columns);

// "a layout of rank 2 and depth 1": the kind of a value and what its kind makes worth knowing.
std::string type_text(const sema::Value& value);

}  // namespace lay::runtime
