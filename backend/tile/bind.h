// The second pass: where the tiles of a program lie and which threads hold them.
//
//   bind(program, {((32,4),(8,4)):((8@1,1@0),(1@1,256@1)), 8}, 16, facts)
//
// sets the extents of tiles (4 rows, 1024 columns), the thread-value layout, and for each copy the
// elements of one access, at most 16 bytes. The demands that an access makes on sizes and pointers
// become conditions of the variant.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/tile/program.h"
#include "backend/tile/rows_ahead.h"
#include "frontend/algebra/integers/facts.h"

namespace lay::tile {

// A base address is a multiple of `bytes`.
struct Aligned {
  sema::TensorId tensor = -1;
  int bytes = 1;
};

struct Bound {
  Program program;
  std::vector<Predicate> when;  // as far as the facts leave them open
  std::vector<Aligned> aligned;
};

// Threads and values along rows and columns, as numbers. Law: each is a power of two.
//
//   along columns   thread t: columns vector * (t % column_threads), row t / column_threads
//   along rows      thread t: rows vector * (t % row_threads), column t / row_threads
struct Shape {
  AxisId along = column_axis;  // the axis that memory runs along
  int row_threads = 1, column_threads = 32;
  int row_repeats = 1, column_repeats = 1;
  int vector = 1;
  int blocks = 1;  // of a cluster, along the columns

  Distribution distribution() const;
};

// Returns why threads cannot share a tile by this layout, as a clause; nothing where they can.
std::optional<std::string> fault_of(const Distribution& threads, int most_threads, int most_blocks);

// Returns nothing where the facts rule a condition out, or where rows cannot be copied ahead as is
// asked. Rows of a kept program are no longer than a tile: that is a condition too.
std::optional<Bound> bind(Program program, const Distribution& threads, int access_bytes,
                          const Facts& facts, const RowsAhead& ahead = {});

// Returns the types of the values that a reduction holds on its way, the result first: a reduction
// to a position holds the extreme too. Truth values are held as 0 and 1.
std::vector<ElementType> partial_types(const Program& program, TileId reduction);

// Bytes of shared memory that a block takes to join values of several warps and blocks; of an
// elementwise program, those of the tiles that are there.
std::int64_t shared_bytes(const Program& program);

// The extent of the tile along an axis.
int extent_of(const Distribution& threads, AxisId axis);

// How lanes and warps divide the columns of a row. Threads that differ by these bits of the lane
// hold other columns of the same rows.
struct ColumnThreads {
  std::vector<int> lane_masks;  // powers of two below 32, ascending
  Layout lane_column;           // lane -> 0 for the lane that speaks for the others
  Layout warp_column;           // warp -> its place among the warps of its rows
  int warps = 1;                // that hold columns of one row
};
ColumnThreads column_threads(const Distribution& threads);

}  // namespace lay::tile
