#pragma once

// Inside the algebra: two coordinates of a known layout with one value.

#include "frontend/algebra/claims/known.h"

namespace lay {

struct IndexPair {
  int64_t first = 0, second = 0;  // first < second
};

// yes: `pair` has the smallest second index whose value was there before, and the index where.
// Modes of one axis.
Tri collision(const std::vector<KnownMode>& modes, IndexPair& pair);
// Tests the modes of all axes.
Tri collision(const Known& known, IndexPair& pair);

}  // namespace lay
