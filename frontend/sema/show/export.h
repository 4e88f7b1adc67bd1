// Values as what can be exported (frontend/export).
#pragma once

#include <string>
#include <vector>

#include "frontend/export/export.h"
#include "frontend/sema/session.h"
#include "frontend/sema/values/value.h"

namespace lay::sema {

// Returns a layout, composed layout or swizzle with the guards that it carries; of a tiled copy its
// thread-value layout, on its tile; of a tiled multiply-add those of its three operands, called
// NAME_A, NAME_B and NAME_C. Returns nothing for other values.
std::vector<exports::Exported> to_exported(Session& session, const Value& value,
                                           const std::string& name, Span where);

// Returns the texts of `to_exported` for a target, one after the other. `tile` is in place of a
// tiled copy's own. Empty where nothing can be exported; Refusal as of exports::exported.
std::string exported_text(Session& session, const Value& value, const std::string& name,
                          const std::string& target, const std::optional<Tuple>& tile, Span where);

inline constexpr const char* kExportable =
    "a layout, a swizzle, a tiled copy or a tiled multiply-add";

}  // namespace lay::sema
