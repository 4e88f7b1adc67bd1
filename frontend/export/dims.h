#pragma once

// The sizes that are not known in a layout: what an export leaves to its user, and a picture cannot be drawn without.

#include <map>
#include <string>
#include <variant>

#include "frontend/algebra/layout.h"

namespace lay::exports {

// By id, with their names.
std::map<DimId, std::string> dims_of(const std::variant<Layout, Composed, Swizzle>& value);

}  // namespace lay::exports
