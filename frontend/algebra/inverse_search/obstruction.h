#pragma once

// whether a last mode gives what is left above a boundary, and between which parts a
// boundary must lie if not.

#include <cstdint>
#include <vector>

#include "frontend/algebra/inverse_search/boundary_primes.h"
#include "frontend/algebra/inverse_search/upper_table.h"

namespace lay {

// The obstacles that keep one mode from giving all that is expected above the boundary. `apart`:
// pairs of parts, as their indices, of small distances where there is a choice: some two of them
// have a boundary between them in each layout that gives what is expected. None: a last mode gives
// all, with what is `decided`. Where the steps are used up it says nothing.
struct Obstruction {
  Neighbours apart;
  std::vector<Difference> decided;
};
Obstruction obstruction(const UpperTable& rest, int64_t& steps);

}  // namespace lay
