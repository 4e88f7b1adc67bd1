// Values as what can be exported (frontend/export).
#pragma once

#include <optional>
#include <string>

#include "frontend/export/export.h"
#include "frontend/sema/values/value.h"

namespace lay::sema {

// A layout, composed layout or swizzle with the guards that it carries; nothing for other values.
std::optional<exports::Exported> to_exported(const Value& value, const std::string& name);

}  // namespace lay::sema
