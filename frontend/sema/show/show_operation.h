// An expression that is an operation on layouts, taken apart for its picture. Internal to this
// folder.
#pragma once

#include <optional>

#include "frontend/picture/draw.h"
#include "frontend/sema/show/show_options.h"

namespace lay::sema {

// The value as a layout or composed layout; nothing for other kinds.
std::optional<AnyLayout> layout_of(const Value& value);

// `a o b`, `f(a, ...)` with a layout for its first operand, or a slice `a(2,_)`, and that layout's
// coordinates in the result's places where the operation lets them through. Nothing for other
// expressions, also not for swizzles, which have a picture of their own.
std::optional<picture::Operation> operation_of(Session& session, Frame& frame,
                                               const ShowOptions& options, syntax::ExpressionId id,
                                               const picture::Named& result);

}  // namespace lay::sema
