// The options of `show`: view = line, tile = (16,8), bits = 16, all = true, M = 8. Internal to this
// folder.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "frontend/picture/draw.h"
#include "frontend/sema/session.h"

namespace lay::sema {

struct ShowOptions {
  // Grid, threads, banks, line; empty: what the value asks for.
  std::string view;
  std::optional<Tuple> tile;
  picture::DrawOptions draw;
  // Numbers for dims, which keep what is assumed.
  std::map<DimId, Int> sizes;
  Binding binding;  // the same
};

// Errors: `view`, `argument-name`, `operand-kind`; `contradiction` for a size that breaks an
// assumption.
ShowOptions show_options(Session& session, Frame& frame, const syntax::Show& show);

// The value of an expression at the sizes of the options. Error `guard` if it does not hold there.
Value instantiated(Session& session, Frame& frame, const ShowOptions& options,
                   syntax::ExpressionId id);

}  // namespace lay::sema
