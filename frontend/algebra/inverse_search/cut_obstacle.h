#pragma once

// Inside the algebra: whether a last mode gives what is left above a cut, and between which parts a
// cut must lie if not.

#include <cstdint>
#include <vector>

#include "frontend/algebra/inverse_search/cut_primes.h"
#include "frontend/algebra/inverse_search/cut_rest.h"

namespace lay {

// What keeps one mode from giving all that is due above the cut. `apart`: pairs of parts, as their
// indices, of small distances where there is a choice: some two of them have a cut between them in
// each layout that does what is due. None: a last mode gives all, with what is `decided`. Where the
// steps are used up it says nothing.
struct Obstacle {
  Neighbours apart;
  std::vector<Difference> decided;
};
Obstacle obstacle(const Rest& rest, int64_t& steps);

}  // namespace lay
