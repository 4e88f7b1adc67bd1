// The epilogue of accumulators that lie in registers by any layout (thread, value) -> (m, n): the
// value of every element that the thread holds, stored from its registers.
#pragma once

#include <array>
#include <vector>

#include "backend/ir/lower/lower_parts.h"

namespace lay::ir {

struct ThreadValues {
  sema::NodeId contraction = -1;         // the accumulators are its values
  std::array<sema::IndexId, 2> indices;  // m and n
  std::vector<sema::IndexId> batch_indices;
  std::vector<Term> batch;       // of the tile
  std::array<Term, 2> first;     // this thread's first element in the output
  Layout values;                 // (value, (i, j)) -> (m, n) after `first`: basis strides
  BufferId accumulators;         // registers (value, i, j)
  std::array<int, 3> extents{};  // of them
  std::vector<int>
      vectors;  // of each assignment: values, neighbours along n, that one access writes
};

// Stores the values of the elements inside the output; other elements are left alone. With several
// outputs all values of an access come first, then all stores.
void store_values(Declared& declared, const ThreadValues& held);

}  // namespace lay::ir
