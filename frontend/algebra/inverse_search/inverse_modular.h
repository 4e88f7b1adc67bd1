#pragma once

// Inside the algebra: what arithmetic modulo a prime says of left inverses where values have
// several indices.

#include <cstdint>
#include <functional>
#include <vector>

#include "frontend/algebra/inverse_search/value_table.h"

namespace lay {

// All of `entries` if they are few, else the first, and some in runs all over them.
std::vector<size_t> few_of(const std::vector<size_t>& entries);

// Both count their steps down.

// Whether no layout gives those values an index that have all their indices in common modulo some
// prime: 4*x + 80*y is one modulo 19 where x + y is known. True: there is none. False: that is
// open.
bool is_ruled_out_modulo_primes(const ValueTable& table, int64_t& steps);

// Selects one index for each value, in some ways: of modes of one stride each takes its part of
// their sum s about in proportion to its extent, floor(s*r) for a simple fraction r, which is what
// a cut gives where it counts one carry. Then nothing is to be decided any more, and chains of cuts
// are found soon, if there are any. Calls `serves` with the extents of chains that give the
// selected indices, until it says true.
bool each_by_selection(const ValueTable& table, int64_t& steps,
                       const std::function<bool(const std::vector<int64_t>& extents)>& serves);

}  // namespace lay
