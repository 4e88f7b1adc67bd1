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
// Five statements say everything: `for` walks an axis, `copy` moves a tile, `map` computes one
// element by element, `reduce` joins one along an axis, `mma` adds up products of two tiles. A tile
// holds the values of one node of the kernel; which arithmetic makes them is the kernel's DAG,
// which the program does not repeat.
//
// A program is made in passes. `form` (form.h, elementwise/, chained_products.h,
// products/product.h) says what is computed in which order; `bind` (bind.h, elementwise/,
// plan/tiles/chained_variants.h) says where and by whom: extents of tiles, thread-value layouts,
// shared memory, instructions, the elements of an access. roles/ says which tiles are copied ahead
// and which threads run what, `expand` (ir/expand/expand.h) turns all into the kernel IR. text/
// prints and parses programs, verify.h holds them to their rules, interpret.h runs them on arrays.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "backend/tile/products/operand_view.h"
#include "frontend/algebra/layouts/layout.h"
#include "frontend/sema/kernel/atom.h"
#include "frontend/sema/kernel/copy_instruction.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::tile {

using AxisId = int;  // into Program::axes
using TileId = int;  // into Program::tiles

// The segments of an axis' coordinates: a tile has coordinates of one segment alone, and may hold
// fewer than its extent. Coordinates come in the order of segments, which may be empty.
struct Segments {
  sema::NodeId of = -1;  // segment[m], of each coordinate, which never decreases; perhaps a cast
  // Tensors that launches before have computed: the first coordinate of each segment and the number
  // of tiles before it, and both behind the last segment. -1: nothing is said of them.
  sema::TensorId first = -1, first_tile = -1;
  // The coordinate of the outputs that each one is, a tensor; -1: itself.
  sema::TensorId stored_at = -1;

  friend bool operator==(const Segments&, const Segments&) = default;
};

// A range that tiles are cut from: indices of the kernel walked as one, the last of them fastest.
//
//   indices (b,h,m) of extents (B,H,M): coordinate c is b = c // (H*M), h = c // M % H, m = c % M
struct Axis {
  std::string name;
  std::vector<sema::IndexId> indices;
  Int extent;    // of all indices together; 1 without any
  int tile = 0;  // coordinates that a tile holds; 0 until bound
  std::optional<Segments> segments = {};

  friend bool operator==(const Axis&, const Axis&) = default;
};

// The extent of an axis that walks these indices; 1 without any.
Int extent_of_all(const sema::Kernel& kernel, const std::vector<sema::IndexId>& indices);

enum class Space { global, shared, registers };

// How the threads of a block share a tile of (rows, columns), and the blocks of a cluster; of an
// elementwise program or a product, a tile of all its axes.
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
  Layout layout;  // (thread, value[, block]) -> coordinate in the tile: basis strides, an axis each
  int vector = 1;  // values that lie side by side in memory: the first mode of the values, or 1
  // Of an elementwise program: the axis that the first mode of the values runs along, if it has one
  // element too; -1: none, as a thread has one element.
  AxisId along = -1;

  int threads() const;   // of a block, those that have values
  int accesses() const;  // of a thread, `vector` values each
  int blocks() const;    // of a cluster
  // Values of a thread along the rows (0) or the columns (1).
  int values(int axis) const;
  // Returns true if the elements of an access are neighbours along the rows' axis.
  bool along_rows() const;

  friend bool operator==(const Distribution&, const Distribution&) = default;
};

// Where a tile lies in shared memory. TMA brings it there for an mma, rows of `span` bytes,
// swizzled where they are longer than 16 bytes; or threads write it.
//
// What a product reads or stores beside its sums goes through shared memory in parts, those of a
// warpgroup one after the other. A part is rows and columns of the instruction that multiplies, of
// one of its accumulators; the last one of an accumulator has the columns that are left.
struct SharedTile {
  AnyLayout layout;  // coordinate -> offset in elements, of one stage: (outer, summed) of an
                     // mma's, by TMA perhaps with outer coordinates behind the tile's, which
                     // its last box brings, (row, column) of a part, else a mode for each axis
                     // of the program, of extent 1 where the values do not depend on the axis
  int span = 128;    // bytes of a row
  std::vector<int> order;    // the tensor's modes, fastest first; none where threads copy it
  std::array<int, 2> box{};  // extents of one copy along (outer, summed), or along a part's
  int stages = 1;            // tiles that are there or on their way at once; of a warpgroup its
                             // parts
  std::optional<std::array<int, 2>> part = {};  // extents; its layout may have further columns
  std::optional<OperandView> view = {};         // of an operand that is no tensor at bare indices
  // Each thread copies what it multiplies of an mma's, or what it has of rows, and reads no
  // other's.
  bool own = false;

  bool by_tma() const { return !order.empty(); }
  // Outer coordinates of an mma's operand: the tile's and those behind it.
  int outer_extent() const;

  friend bool operator==(const SharedTile&, const SharedTile&) = default;
};

// Memory that holds one value for each coordinate of its axes.
struct Tile {
  std::string name;
  ElementType element = ElementType::f32;
  std::vector<AxisId> axes;
  Space space = Space::registers;
  sema::NodeId value = -1;  // the node whose values it holds: a load for a copy from global memory
  int assignment = -1;      // of an output in global memory: in Kernel::assignments
  std::optional<SharedTile> shared = {};  // of a tile in shared memory, once bound
  // Of a tile in registers whose elements other threads have than those of the program say; of one
  // in shared memory, the threads that copy an mma's there asynchronously, or those of a warpgroup
  // that copy a part between there and global memory.
  std::optional<Distribution> threads = {};
  // The instruction that copies its elements there: from global to shared memory asynchronously, or
  // from shared memory to the registers of a warp. None: each thread loads and stores its own.
  std::optional<sema::CopyInstruction> filled_by = {};

  friend bool operator==(const Tile&, const Tile&) = default;
};

struct Stmt;
using Block = std::vector<Stmt>;

// A truth value of each row, held by a tile, and the value that it must have.
struct Condition {
  TileId tile = -1;
  bool holds = true;

  friend bool operator==(const Condition&, const Condition&) = default;
};
// dst <- src, one of them in global memory, or one in shared memory and the other in registers.
// Elements outside of the kernel's extents are neither read nor written in global memory; in
// registers and shared memory they are 0. A load may have conditions: rows where one of them does
// not hold are not read, and are 0.
//
// A load into a tile whose node is `if c then X[..] else 0` is of a window that zeros surround: the
// tile has the element where it lies in the tensor, which is what c says, and 0 elsewhere.
//
// Stores are at the coordinates of the outputs, where rows in segments are others (Segments).
struct Copy {
  TileId dst = -1, src = -1;
  int vector = 1;       // elements of one access; bound
  int vector_mode = 0;  // the mode of the tensor, or of shared memory, that an access runs along;
                        // bound
  std::vector<Condition> where = {};

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
// ends. Over another axis than that of the loop around it is complete at once.
//
// `rescales`: the reduction, a maximum, may be read on its way. The tiles named are sums that
// depend on it as exp(x - max) does; each time the maximum moves from a to b they are multiplied by
// exp(a - b) (online_softmax.h).
struct Reduce {
  TileId out = -1;
  AxisId over = -1;
  std::vector<TileId> rescales = {};

  friend bool operator==(const Reduce&, const Reduce&) = default;
};
// Adds up the products of two tiles along an axis: the tile's node is a sum over the axis of a
// product whose factors, under casts, are the values of a and b. It starts and is complete as a
// reduction is. The rows of the atom are those of a: where a has the program's columns, they are
// these.
//
// The product may have further factors, scales, which depend on the axis through quotients alone
// (products/group_scale.h). They multiply sums, not products. With s the product of the scales:
//
//   sum[m,n] += s(m, n, first of the interval) * sum[k of the interval](a[m,k] * b[n,k])
//
// An interval lies in one group of each scale; before it is bound it is all of one group.
struct Mma {
  TileId out = -1, a = -1, b = -1;
  AxisId over = -1;
  std::optional<sema::Atom> atom;  // that multiplies; bound
  // Coordinates of an interval, from each multiple of it on: a multiple or a part of the axis'
  // tile; 0: none. Bound. An atom adds up those of an interval by itself, in its own type.
  int interval = 0;
  // Accumulators that take turns, interval by interval: while those of one are added to the totals
  // the atom fills the next. Bound.
  int sets = 1;

  friend bool operator==(const Mma&, const Mma&) = default;
};
// grid: each block takes one tile of the axis. sequence: a block takes all tiles, one after the
// other. whole: the tile holds the whole axis, so that the body runs once.
//
// With several `parts` the blocks of a cluster share the tiles of a loop in sequence. Of T tiles
// block p takes those from T * p / parts to T * (p + 1) / parts, rounded down. The sums that each
// has at the end are added up in the order of blocks.
//
// With a tail the same holds of the tiles of a last wave that is not whole (tile_order.h): clusters
// take parts of the loop each, and the sums of a tile are added up in the order of parts.
//
// A loop in sequence that alternates begins at its end in every other tile that a block takes after
// another one, where sums may be added up in any order.
enum class Walk { grid, sequence, whole };
struct For {
  AxisId axis = -1;
  Walk walk = Walk::grid;
  Block body;
  int parts = 1;
  bool alternates = false;
  int tail = 1;  // parts

  friend bool operator==(const For&, const For&);
};

struct Stmt {
  std::variant<Copy, Map, Reduce, Mma, For> node;

  friend bool operator==(const Stmt&, const Stmt&) = default;
};

inline bool operator==(const For& a, const For& b) {
  return a.axis == b.axis && a.walk == b.walk && a.parts == b.parts &&
         a.alternates == b.alternates && a.tail == b.tail && a.body == b.body;
}

// How warpgroups share the products of a program: one of them, the producer, copies tiles to shared
// memory, the others multiply: 64 rows each, or what the program's threads say. Where there are
// some times as many as these threads, they are groups that take tiles of a block in turn.
struct Warpgroups {
  int consumers = 2;
  // A thread: of the producer and of a consumer; 0: as many as the launch gives.
  std::array<int, 2> registers{24, 240};
  int sms = 132;  // the number of blocks, which take tile after tile; 0: a block takes one

  int threads() const { return 128 * (1 + consumers); }

  friend bool operator==(const Warpgroups&, const Warpgroups&) = default;
};

// Tiles in groups of rows, each down its rows and then along the columns
// (tile_order.h says the order and its law: each tile has one place).
struct RowGroups {
  int rows = 1;  // of a group, at most; from 1 on

  friend bool operator==(const RowGroups&, const RowGroups&) = default;
};

// Groups, or a layout, place -> tile, counted in tiles along each axis: basis strides. A place
// whose tile lies outside of the extents is empty.
using TileOrder = std::variant<RowGroups, Layout>;

// Which blocks there are of an elementwise program, whose order is a layout, or which clusters of a
// product. Groups are of the instruction's rows.
struct Grid {
  TileOrder order;    // of the tiles, of a cluster's together
  int threads = 256;  // of a block, of which those have work that a distribution names
  // Blocks of a cluster along rows and columns, whose tiles lie side by side and which load
  // together what they share. A loop in parts has as many of them again.
  std::array<int, 2> cluster{1, 1};

  const Layout& layout() const { return std::get<Layout>(order); }

  friend bool operator==(const Grid&, const Grid&) = default;
};

struct Program {
  sema::KernelPtr kernel;  // indices of reductions that run over the same columns are one index
  // Rows and columns first, then what products have beside them; of an elementwise program an axis
  // for each index of the first output, in its order, or one of them all
  // (elementwise/each_element.h).
  std::vector<Axis> axes;
  std::vector<Tile> tiles;
  Block body;
  std::optional<Distribution> threads;   // once bound, or
  std::optional<Warpgroups> warpgroups;  // of a program with products, once bound
  std::optional<Grid> grid;              // of an elementwise program or a product, once bound
  int blocks_per_sm = 1;                 // promised to the register allocator
  // Of a program of rows: SMs whose blocks take tile after tile of the rows, each copied ahead of
  // the ones before; 0: a block takes one.
  int sms = 0;
  // Instructions that copy what they can, in place of the library's. A tile may say which of all
  // fills it (`filled_by`).
  std::vector<sema::CopyInstruction> copies = {};
  // Columns split over the grid: a block takes every `parts`-th tile of them, and the index of the
  // outputs says which.
  sema::IndexId part = -1;
  int parts = 1;

  const Axis& axis(AxisId id) const { return axes[static_cast<std::size_t>(id)]; }
  const Tile& tile(TileId id) const { return tiles[static_cast<std::size_t>(id)]; }
  bool is_bound() const { return threads.has_value() || warpgroups.has_value(); }
  int summed_axes() const;  // that products of tiles are summed over
  bool has_products() const { return summed_axes() > 0; }
  // Products of one loop over the sum (products/product.h), or of several in a chain
  // (chained_products.h).
  bool is_product() const { return summed_axes() == 1; }
  bool is_chain() const { return summed_axes() > 1; }
  // Returns true if all loops are over the grid, one for each axis: a block computes the elements
  // of one tile of the outputs, each by itself, with the reductions that it needs.
  bool is_elementwise() const;

  // Equal programs belong to one kernel: the pointers are equal.
  friend bool operator==(const Program&, const Program&) = default;
};

inline constexpr AxisId row_axis = 0, column_axis = 1;

inline constexpr int threads_of_warp = 32, warps_of_warpgroup = 4, threads_of_warpgroup = 128;

// Calls f(statement) for every statement of the block, a loop before its body.
template <class F>
void for_each(const Block& block, F&& f) {
  for (const Stmt& stmt : block) {
    f(stmt);
    if (const auto* loop = std::get_if<For>(&stmt.node)) for_each(loop->body, f);
  }
}

inline int Program::summed_axes() const {
  std::set<AxisId> summed;
  for_each(body, [&](const Stmt& stmt) {
    if (const auto* mma = std::get_if<Mma>(&stmt.node)) summed.insert(mma->over);
  });
  return static_cast<int>(summed.size());
}

}  // namespace lay::tile
