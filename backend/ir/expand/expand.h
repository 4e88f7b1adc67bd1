// The last pass over tile programs: a bound program as the kernel IR.
//
// A thread keeps its values of a tile in registers; loops over them are unrolled. A reduction joins
// the values of a thread, then those of the lanes that share its rows by shuffles, then those of
// the warps through shared memory: always in the order of the columns that a thread, a warp and a
// block hold, so that a launch gives the same bits every time.
#pragma once

#include <vector>

#include "backend/ir/lower/lower_parts.h"
#include "backend/tile/program.h"

namespace lay::ir {

// The programs of one launch, several of which are elementwise.
void expand(Declared& declared, const std::vector<tile::Program>& programs);

}  // namespace lay::ir
