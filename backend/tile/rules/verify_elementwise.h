// The rules of elementwise programs (elementwise/elementwise.h), beside those of all programs.
//
// An axis has one index. Maps stand before what is stored, and computations read registers that the
// program's threads have. A bound program has a grid over its axes; the threads of the program, and
// those of each tile that has its own, cover the tile once, and are no more than a block has. A
// tile in shared memory has a place for each element that its threads write, and no place twice.
#pragma once

#include <string>
#include <vector>

#include "backend/tile/verify.h"

namespace lay::tile {

// What programs with an axis for each index share: an axis has one index, and blocks come together
// with threads. `what` a message calls the program, "an elementwise program".
std::vector<Problem> verify_axes_of_indices(const Program& program, const std::string& what);

// Ids are in range.
std::vector<Problem> verify_elementwise(const Program& program);

}  // namespace lay::tile
