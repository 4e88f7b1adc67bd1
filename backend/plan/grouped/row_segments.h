// Rows of a product that have segments, each of which meets a part of B of its own.
#pragma once

#include "frontend/algebra/integers/int.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::plan {

//   Y[t,n] = sum[k](X[t,k] * W[segment[t],n,k])     segment[0] <= segment[1] <= ...
//
// A tile has up to `rows` rows of one segment. Launches before have computed (stdlib/segments.lay)
// that segment e has the rows from first_row[e] on and the rows of tiles from first_tile[e] on, so
// that tiles without rows come last.
//
// Where segments are in another order, A and the epilogue of the executed kernel are those of rows
// that have been sorted by segment, and `row_of` says which row of the outputs each one is.
struct RowSegments {
  Int count;                       // segments: the extent of B's mode that they select
  int rows = 0;                    // of a tile
  sema::TensorId first_row = -1;   // of each segment, and of the row behind the last one
  sema::TensorId first_tile = -1;  // likewise
  sema::TensorId row_of = -1;      // of each row; -1 where it is the row itself
  sema::NodeId by_row = -1;        // the load segment[m], one number for a tile

  // Rows of tiles of M rows, at the most: each segment ends with a tile that may not be full.
  Int tiles(const Int& m) const { return ceil_div(m, rows) + count; }

  friend bool operator==(const RowSegments&, const RowSegments&) = default;
};
// More segments are not searched for that of a tile.
inline constexpr int most_segments = 4095;

}  // namespace lay::plan
