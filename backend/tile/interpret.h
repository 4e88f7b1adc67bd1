// The meaning of a tile program: plain loops over its tiles, an element at a time, with the
// arithmetic of the reference (sema/kernel/node_values.h).
//
//   interpret(program, call)      the outputs that reference(kernel, ...) has, up to the order in
//                                 which a reduction joins its values
//
// An unbound program has tiles of the sizes given here, a bound one its own. Threads do not occur.
// A wrong program ends in a std::logic_error if it reads an element of a tile that was not written,
// or stores an element of an output twice or never.
#pragma once

#include <vector>

#include "backend/tile/program.h"
#include "frontend/sema/kernel/kernel_call.h"

namespace lay::tile {

struct TileSizes {
  int rows = 4, columns = 8, summed = 3;  // summed: of a product
};

// The kernel of the call is the program's, or the one that it was formed of: arrays belong to
// tensors by name, and are reshaped where the program walks several indices as one.
sema::KernelResult interpret(const Program& program, const sema::KernelCall& call,
                             const TileSizes& unbound = {});

// Of bound programs that stand side by side in one launch, each of which makes outputs of its own.
sema::KernelResult interpret(const std::vector<Program>& programs, const sema::KernelCall& call);

}  // namespace lay::tile
