// A tile program: what a kernel computes, in which order, on tiles of its index space. It stands
// between the checked kernel (sema/kernel/kernel.h) and the kernel IR (ir/ir.h).
//
//   Y[m,n] = X[m,n] / sum[k](X[m,k])   becomes
//
//   for m in grid {
//     for n in sequence {
//       copy tile_X[m,n] <- X[m,n]
//       reduce all_sum[m] = sum over n of tile_X[m,n]
//     }
//     for n in sequence {
//       copy tile_X2[m,n] <- X[m,n]
//       map out_Y[m,n] = tile_X2[m,n] / all_sum[m]
//       copy Y[m,n] <- out_Y[m,n]
//     }
//   }
//
// Four statements say everything: `for` walks an axis, `copy` moves a tile, `map` computes one
// element by element, `reduce` joins one along an axis. A tile holds the values of one node of the
// kernel; which arithmetic makes them is the kernel's DAG, which the program does not repeat.
//
// A program is made in passes. `form` (form.h) says what is computed in which order; `bind`
// (bind.h) says where and by whom: extents of tiles, the thread-value layout, the elements of an
// access. `expand` (ir/expand/expand.h) turns a bound program into the kernel IR. text/ prints and
// parses programs, verify.h holds them to their rules, interpret.h runs them on arrays.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/algebra/layouts/layout.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::tile {

using AxisId = int;  // into Program::axes
using TileId = int;  // into Program::tiles

// A range that tiles are cut from: indices of the kernel walked as one, the last of them fastest.
//
//   indices (b,h,m) of extents (B,H,M): coordinate c is b = c // (H*M), h = c // M % H, m = c % M
struct Axis {
  std::string name;
  std::vector<sema::IndexId> indices;
  Int extent;    // of all indices together; 1 without any
  int tile = 0;  // coordinates that a tile holds; 0 until bound

  friend bool operator==(const Axis&, const Axis&) = default;
};

enum class Space { global, registers };

// Memory that holds one value for each coordinate of its axes.
struct Tile {
  std::string name;
  ElementType element = ElementType::f32;
  std::vector<AxisId> axes;
  Space space = Space::registers;
  sema::NodeId value = -1;  // the node whose values it holds: a load for a copy from global memory
  int assignment = -1;      // of an output in global memory: in Kernel::assignments

  friend bool operator==(const Tile&, const Tile&) = default;
};

struct Stmt;
using Block = std::vector<Stmt>;

// dst <- src, one of them in global memory. What lies outside of the kernel's extents is neither
// read nor written; in registers it is 0.
struct Copy {
  TileId dst = -1, src = -1;
  int vector = 1;       // elements of one access; bound
  int vector_mode = 0;  // the mode of the tensor that an access runs along; bound

  friend bool operator==(const Copy&, const Copy&) = default;
};
// Computes the tile's node at every coordinate of its axes, from the tiles that are known and from
// global memory.
struct Map {
  TileId out = -1;

  friend bool operator==(const Map&, const Map&) = default;
};
// Joins the values of the body of the tile's node, a reduction, along an axis. In a `for` over that
// axis the tile starts at the function's identity when the loop begins, and is complete when it
// ends.
struct Reduce {
  TileId out = -1;
  AxisId over = -1;

  friend bool operator==(const Reduce&, const Reduce&) = default;
};
// grid: each block takes one tile of the axis. sequence: a block takes all tiles, one after the
// other. whole: the tile holds the whole axis, so that the body runs once.
enum class Walk { grid, sequence, whole };
struct For {
  AxisId axis = -1;
  Walk walk = Walk::grid;
  Block body;

  friend bool operator==(const For&, const For&);
};

struct Stmt {
  std::variant<Copy, Map, Reduce, For> node;

  friend bool operator==(const Stmt&, const Stmt&) = default;
};

inline bool operator==(const For& a, const For& b) {
  return a.axis == b.axis && a.walk == b.walk && a.body == b.body;
}

// How the threads of a block share a tile of (rows, columns), and the blocks of a cluster.
//
//   ((32,4),(8,4)):((8@1,1@0),(1@1,256@1))     thread t: 8 columns from 8*(t%32), again 256 columns
//                                             further on and so on, in row t//32
//   (512,(8,4),4):(8@1,(1@1,16384@1),4096@1)   four blocks share a row: block b has 4096 columns
//                                             from 4096*b of every 16384
//
// Threads and blocks that differ in the column only hold parts of the same rows: a reduction joins
// them by shuffles inside a warp, through shared memory beyond it, and through that of the other
// blocks beyond a block, always in the same order.
struct Distribution {
  Layout layout;   // (thread, value[, block]) -> (row, column) of the tile: basis strides 0 and 1
  int vector = 1;  // values that lie side by side in memory: the first mode of the values, or 1

  int threads() const;  // of a block
  int blocks() const;   // of a cluster
  // Values of a thread along the rows (0) or the columns (1).
  int values(int axis) const;

  friend bool operator==(const Distribution&, const Distribution&) = default;
};

struct Program {
  sema::KernelPtr kernel;  // indices of reductions that run over the same columns are one index
  std::vector<Axis> axes;  // rows and columns, in this order
  std::vector<Tile> tiles;
  Block body;
  std::optional<Distribution> threads;  // once bound
  int blocks_per_sm = 1;                // promised to the register allocator
  // Columns split over the grid: a block takes every `parts`-th tile of them, and the index of the
  // outputs says which.
  sema::IndexId part = -1;
  int parts = 1;

  const Axis& axis(AxisId id) const { return axes[static_cast<std::size_t>(id)]; }
  const Tile& tile(TileId id) const { return tiles[static_cast<std::size_t>(id)]; }
  bool is_bound() const { return threads.has_value(); }

  // Of one kernel: the pointers are equal.
  friend bool operator==(const Program&, const Program&) = default;
};

inline constexpr AxisId row_axis = 0, column_axis = 1;

// Calls f(statement) for every statement of the block, a loop before its body.
template <class F>
void for_each(const Block& block, F&& f) {
  for (const Stmt& stmt : block) {
    f(stmt);
    if (const auto* loop = std::get_if<For>(&stmt.node)) for_each(loop->body, f);
  }
}

}  // namespace lay::tile
