// A GEMM on Hopper's tensor cores: a persistent grid of blocks, each with one warpgroup that copies tiles into shared
// memory by TMA and others, the consumers, that multiply them by wgmma. A team of consumers shares a tile; several
// teams take the tiles of a block in turns, so that one multiplies while the others store (ping-pong).
//
//   C[m,n] = epilogue(sum[k](A[m,k] * B[n,k]), m, n)
//
// The atom reads A from shared memory, or from registers, to which consumers bring it a step of the atom at a time.
//
// Everything here follows from the schedule's tile, atom, groups, cluster and stages and from the tensors' layouts: who
// loads which part of a tile for whom, the boxes, the swizzles, and who holds which accumulator.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "backend/plan/fragment.h"
#include "backend/plan/tensor_gemm.h"
#include "frontend/algebra/operations.h"

namespace lay::plan {

// How one operand reaches shared memory. "Outer" is m for A and n for B.
struct TmaOperand {
  sema::NodeId load = -1;
  sema::IndexId outer = -1;
  bool along_k = true;       // K-major: neighbours in memory are neighbours along k; else along the outer index
  int span = 128;            // bytes of a row of shared memory, the most that one box has along its fastest mode
  std::vector<int> order;    // the tensor's modes, fastest first
  std::array<int, 2> box;    // extents of one copy along (outer, k)
  std::array<int, 2> slice;  // of the part of the tile that one block of the cluster loads for all that need it
  AnyLayout shared;          // (outer, k) -> offset in elements, one stage
  std::optional<Fragment> fragment;  // of an atom that reads it from registers, which only A may be
};

// An output that leaves through shared memory: 64 rows and `width` columns of a consumer at a time, the last time of an
// atom as many as are left. 16-bit elements are put there by stmatrix, wider ones by the threads that hold them. They
// are taken away by TMA where it stores the tensor, else by the consumer's threads, of which a warp takes neighbours in
// memory. Where rows lie in memory as they lie in the warps, TMA takes each warp's own rows when that warp has put them
// there, and no warp waits for another.
struct StagedStore {
  sema::TensorId tensor = -1;
  bool along_n = true;  // neighbours in memory are neighbours along n, not m
  int width = 64;
  int rest = 0;     // columns of an atom that whole widths leave
  int buffers = 2;  // of a consumer, taken in turns
  bool tma = true;
  int span = 128;            // bytes of a row of shared memory
  bool by_warps = false;     // by TMA: each warp its own rows
  std::vector<int> order;    // by TMA: the tensor's modes, fastest first
  std::array<int, 2> box{};  // by TMA: extents of one copy along (m, n), the last time of an atom `rest` along n
  Layout runs;               // by threads: (thread of a consumer, access) -> (m, n) of the access' first element
  int run = 1;               // by threads: elements of an access, neighbours in memory
  AnyLayout shared;          // (m, n) -> offset in elements, 64 rows and at least `width` columns
  bool matrices = true;      // put by stmatrix
  Layout lanes;              // thread of a consumer -> (m, n): the row of 8 elements that it names to stmatrix, or its
                             // first value
  Layout held{8, 1};         // value of a step -> (m, n), from the thread's first
  int vector = 8;            // values that one write takes
  // Lanes whose number has this bit write so many values further on, so that a warp meets no bank twice.
  struct Turned {
    int bit = 0, values = 0;
  };
  std::optional<Turned> turned;

  int values() const { return static_cast<int>(size(held).value()); }  // of a step
  // Times that a consumer stores, for so many columns.
  int passes(int columns) const { return (columns + width - 1) / width; }
};

// The products count only where the condition has this value, so that tiles where it never has it need none.
struct Mask {
  sema::NodeId condition = -1;
  bool when = true;
};

// What the blocks of a cluster that split K give each other: a consumer's accumulators in passes of `values` a thread.
// Block r of the split adds up, in the order of ranks, and stores the passes r * each to r * each + each - 1, as far as
// there are.
struct Split {
  int values = 0;
  int passes = 0;
  int each = 0;
};

// The groups are consumers; a cluster takes one tile of its own, in units of which the order is, after another.
struct Sm90Gemm : TensorGemm {
  std::array<int, 3> cluster{1, 1, 1};  // blocks over M and N that share what they load, and over K
  bool swapped = false;                 // a is the product's second factor, m the output's columns
  TmaOperand a, b;
  std::optional<StagedStore> store;             // the only output, where it leaves through shared memory
  std::optional<Mask> mask;                     // of the only output
  std::optional<Split> split;                   // where blocks share K
  std::optional<std::array<int, 2>> registers;  // of the copying threads and of the consumers
  int multiprocessors = 132;
  // K elements whose products the tensor cores add up by themselves before the sum goes on in registers, rounded as the
  // accumulator's type rounds: a multiple or a part of the tile's, or 0 for all of K.
  int accumulate = 0;

  int teams() const { return groups[3]; }
  int of_team() const { return groups[0] * groups[1]; }  // consumers that share a tile
  int consumers() const { return teams() * of_team(); }
  int threads() const { return 128 * (1 + consumers()); }
  int blocks() const { return sharers() * cluster[2]; }
  int sharers() const { return cluster[0] * cluster[1]; }  // blocks with the same part of K
  // A thread's registers of A in a K tile, where the atom reads it from registers.
  int fragment_registers() const {
    return a.fragment ? repeats()[0] * repeats()[2] * a.fragment->values() * bits(mma.a_type) / 32 : 0;
  }
  // Times that a consumer stores, a tile.
  int stores() const { return store->passes(mma.shape[1]) * repeats()[0] * repeats()[1]; }
  // Tiles of the whole cluster.
  std::array<int, 2> cluster_tile() const { return {tile[0] * cluster[0], tile[1] * cluster[1]}; }
};

}  // namespace lay::plan
