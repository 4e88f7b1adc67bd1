#pragma once

// The sizes that are not known in a layout: what an export leaves to its user, and a picture cannot
// be drawn without.

#include <map>
#include <string>
#include <variant>

#include "frontend/algebra/layouts/layout.h"
#include "frontend/export/int_code.h"

namespace lay::exports {

// By id, with their names.
std::map<DimId, std::string> dims_of(const std::variant<Layout, Composed, Swizzle>& value);

// "M, N are ints at run time", by their names there; empty where all sizes are known.
std::string sizes_note(const std::map<DimId, std::string>& dims, Code code);

}  // namespace lay::exports
