// Lines that are no Lay but what CuTe prints, or C++ for it: one error a line, which says how to
// have them read.
#pragma once

#include <string_view>
#include <vector>

#include "frontend/source/diagnostic.h"

namespace lay::syntax {

// Leaves of the errors on such a line the first, with that advice. The list is in the order of the
// text.
void advise_on_cute(std::string_view text, std::vector<Diagnostic>& list);

}  // namespace lay::syntax
