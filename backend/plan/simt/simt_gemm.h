// A product on CUDA cores, as the planner chooses it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "backend/plan/schedule/tile_order.h"
#include "frontend/algebra/layouts/layout.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::plan {

// The boxes that TMA copies at once into a tile in shared memory.
struct TmaBoxes {
  std::vector<int> order;    // the tensor's modes, fastest first
  std::array<int, 2> box{};  // extents along (outer, k)

  friend bool operator==(const TmaBoxes&, const TmaBoxes&) = default;
};

// How one operand of the contraction travels: global -> registers -> shared, or by TMA. "Outer" is
// m for A and n for B.
struct OperandCopy {
  sema::NodeId value = -1;  // the factor of the product: the load, or casts of it
  sema::NodeId load = -1;
  sema::IndexId outer = -1;
  int vector_mode = 0;   // the tensor's mode along which one access runs
  bool along_k = false;  // that mode is k's, not the outer index's
  int vector = 1;        // elements a global access
  Layout threads;    // (thread, (element of the access, access)) -> (outer, k) in the tile: basis
                     // strides
  AnyLayout shared;  // (outer, k) -> offset in elements, one stage, padding included
  std::optional<TmaBoxes> boxes;  // by TMA, in place of vector and threads

  friend bool operator==(const OperandCopy&, const OperandCopy&) = default;
};

// How one output is written.
struct OutputStore {
  int assignment = 0;   // in Kernel::assignments
  int vector_mode = 0;  // the tensor's mode along which one access runs
  bool along_n = true;  // that mode is n's, not m's
  int vector = 1;       // elements a global access

  friend bool operator==(const OutputStore&, const OutputStore&) = default;
};

// C[m,n] = epilogue(sum[k](A[m,k] * B[n,k]), m, n) by the CUDA cores: tiles through shared memory
// to registers. The planner chooses these numbers and layouts; a variant has them as the bound tile
// program that says the same (bind_simt.h).
//
// With two stages the threads that multiply copy the next K tile meanwhile. With more, a ring of
// stages, a warpgroup of its own copies K tiles ahead (Hopper): by TMA what runs along m or n,
// through its registers what has to be transposed or converted. Most of its registers move to those
// that multiply.
//
// Warp w of a slice has the part (w % groups[0], w / groups[0]) of the tile's (M, N). Inside it, a
// lane holds lane_tile elements at lane_tile * its coordinate in the lane grid, again and again
// until the warp's part is covered. A block has groups[2] slices: slice s adds the products of the
// s-th part of every K tile, and at the end the sums of slice 1, 2, ... are added to those of slice
// 0 in this order.
//
// With several `parts` a tile is computed by as many blocks, a cluster (Hopper): block p adds the
// products of the K tiles from floor(T * p / parts) to floor(T * (p + 1) / parts) of all T. Then
// each block gets from the others what they have of some of its threads' accumulators, adds it up
// in the order of parts, and stores it.
struct SimtGemm {
  sema::NodeId contraction = -1;  // in Kernel::nodes
  sema::IndexId m = -1, n = -1, k = -1;
  std::vector<sema::IndexId> batch;  // further output indices: further coordinates of a tile
  ElementType accumulator = ElementType::f32;
  std::array<int, 3> tile{128, 128, 8};
  std::array<int, 4> groups{2, 4, 1, 1};  // warps over tile M, N, K and over successive tiles
  Layout lanes;  // lane -> (row, column) of the warp's lane grid: basis strides
  std::array<int, 2> lane_grid{4, 8};
  std::array<int, 3> lane_tile{4, 4, 1};
  Layout accumulators;  // (thread of a slice, value) -> (m, n) in the tile: basis strides; value
                        // ((i, ri), (j, rj))
  int stages = 2;
  int parts = 1;  // of K, a block each
  OperandCopy a, b;
  std::vector<OutputStore> stores;
  TileOrder order;  // of blocks
  int blocks_per_sm = 1;
  std::array<int, 2> registers{};  // of a ring's producer threads and of those that multiply

  friend bool operator==(const SimtGemm&, const SimtGemm&) = default;

  bool ring() const { return stages > 2; }
  int slice_threads() const { return 32 * groups[0] * groups[1]; }
  int threads() const { return slice_threads() * groups[2]; }  // that multiply
  int producer_threads() const { return ring() ? 128 : threads(); }
  // Lane tiles of one lane along m and n.
  std::array<int, 2> repeats() const {
    return {tile[0] / (groups[0] * lane_grid[0] * lane_tile[0]),
            tile[1] / (groups[1] * lane_grid[1] * lane_tile[1])};
  }
  // A thread's accumulators along m and n.
  std::array<int, 2> held() const {
    return {repeats()[0] * lane_tile[0], repeats()[1] * lane_tile[1]};
  }
  // The axis along which blocks that have parts of K share out a thread's accumulators, across the
  // vectors of the output, and how many of them along it one block stores, at most.
  std::size_t shared_out() const { return stores.size() == 1 && !stores[0].along_n ? 1 : 0; }
  int stored_of_part() const { return (held()[shared_out()] + parts - 1) / parts; }
};

}  // namespace lay::plan
