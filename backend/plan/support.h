// Checks that the backend supports what a checked kernel asks for.
#pragma once

#include <vector>

#include "backend/plan/plan.h"

namespace lay::plan {

// Problems "unsupported": element types that nothing computes with yet, an inout tensor that is
// read where another thread writes it, expressions too large to emit.
void check_support(const sema::Kernel& kernel, std::vector<Problem>& problems);

}  // namespace lay::plan
