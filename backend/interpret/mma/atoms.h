// Multiplications by an atom: mma_sync by a warp, wgmma by the four warps of a warpgroup, each of
// which computes the rows that its threads hold. Operands in shared memory are the atom's tiles
// from the coordinate on.
//
// The products of one instruction are summed exactly enough (in f64; integers in 64 bits) and added
// to the accumulator with one rounding. The hardware's order of summation is not specified, so that
// only results that need no rounding are the same bits; integers are. In field mode all are.
#pragma once

#include "backend/interpret/warp.h"

namespace lay::interpret::atoms {

// atoms[detail]; slot a: lanes where the accumulator counts as zero. Null where the types are not
// executed.
Handler multiply(ElementType d, ElementType a, ElementType b, Arithmetic arithmetic);

// wgmma in groups: fence, commit, and wait until at most `value` groups are in flight.
extern const Handler fence;
extern const Handler commit;
extern const Handler wait;

// The table of an operand in registers: by thread and value, the row and column in a tile of so
// many rows.
std::vector<Place> places(const Layout& threads_values, int rows);

}  // namespace lay::interpret::atoms
