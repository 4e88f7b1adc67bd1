// Bound elementwise programs (tile/elementwise/elementwise.h) as the kernel IR, in steps, one tile
// a block:
//
//   all loads: global -> registers                        each in the order of its own memory
//   loads that are staged: registers -> shared
//   barrier
//   for every access of a thread: shared -> registers, the values, registers -> global
//
// Coordinates outside the outputs are neither read nor written; nothing else depends on the sizes.
#pragma once

#include <vector>

#include "backend/ir/lower/lower_parts.h"
#include "backend/tile/program.h"

namespace lay::ir {

// One launch: each of the programs has a range of blocks, as many threads as the others, and
// assignments of its own.
void expand_elementwise(Declared& declared, const std::vector<tile::Program>& programs);

// The same of programs that copy, as a short launch that may overlap the one before.
void expand_copies(Declared& declared, const std::vector<tile::Program>& programs);

}  // namespace lay::ir
