// How wide an access to a tensor may be, and what has to hold for it.
//
//   (M,K):(lda,1)   runs along mode 1; 4 elements at once need K % 4 == 0, lda % 4 == 0 and a base
//   aligned to 16 bytes
#pragma once

#include <vector>

#include "frontend/algebra/integers/facts.h"
#include "frontend/algebra/layouts/layout.h"

namespace lay::tile {

// The mode along which neighbouring coordinates are neighbours in memory, or -1. A mode of extent 1
// only if no other is.
int unit_mode(Facts& facts, const Layout& tensor);

// Returns the conditions under which `vector` elements along the mode, from a coordinate that is a
// multiple of `vector`, are consecutive, inside the tensor or outside as a whole, and at an offset
// that is a multiple of `vector`. Leaves out conditions that the facts prove; one that they refute
// gives `never`.
std::vector<Predicate> vector_conditions(Facts& facts, const Layout& tensor, int mode, int vector);

}  // namespace lay::tile
