#pragma once

// The repairs that would have worked where a library call is refused. Internal to this folder.

#include <functional>
#include <string>
#include <vector>

#include "frontend/sema/builtins/builtins.h"

namespace lay::sema {

// Runs the call with other arguments; throws what the call throws.
using Retry = std::function<void(const std::vector<CallArgument>&)>;

// The call again with one literal integer of the last argument replaced by its neighbours, the
// nearest that is not refused: "T = 96". Nothing if that argument has no integers or none of those
// tried works.
std::vector<std::string> call_repairs(Session& session, const std::string& parameter,
                                      const std::vector<CallArgument>& arguments,
                                      const Retry& retry);

}  // namespace lay::sema
