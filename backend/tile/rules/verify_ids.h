// The ids of a tile program, which all other rules take for granted.
#pragma once

#include <vector>

#include "backend/tile/verify.h"

namespace lay::tile {

// Returns the ids that are out of range, and the statements whose tile holds no reduction.
// Law: the program has a kernel.
std::vector<Problem> verify_ids(const Program& program);

}  // namespace lay::tile
