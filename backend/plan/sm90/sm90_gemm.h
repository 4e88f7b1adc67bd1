// A GEMM on Hopper's tensor cores: a persistent grid of blocks, each with one warpgroup, the
// producer, that loads tiles into shared memory by TMA and others, the consumers, that multiply
// them by wgmma. The consumers of a group share a tile (cooperative); several groups alternate over
// the tiles of a block (ping-pong), so that one multiplies while the others store.
//
//   C[m,n] = epilogue(sum[k](A[m,k] * B[n,k]), m, n)
//
// The atom reads A from shared memory, or from registers, to which consumers load it a step of the
// atom at a time.
//
// Everything here follows from the schedule's tile, atom, groups, cluster and stages and from the
// tensors' layouts: which warp loads which part of a tile, the boxes, the swizzles, and which
// thread holds which accumulator.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "backend/plan/fragments/fragment.h"
#include "backend/plan/tensor_gemm.h"
#include "backend/tile/products/operand_view.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

// The compute capability, ten times as it is written, whose copies such a product uses: that of the
// first GPUs that have its atoms.
inline constexpr int sm90_capability = 90;

// Rows of the instruction, and those of each of its four warps.
inline constexpr int rows_of_atom = 64, rows_of_warp = 16;

// How one operand reaches shared memory. "Outer" is m for A and n for B.
struct TmaOperand {
  sema::NodeId load = -1;
  sema::NodeId value = -1;  // what is multiplied: the load, or a conversion of it
  bool converted = false;   // to the atom's type, in registers: only of a fragment
  int element_bits = 0;     // of the tensor
  sema::IndexId outer = -1;
  bool along_k =
      true;  // K-major: neighbours in memory are neighbours along k; else along the outer index
  int span =
      128;  // bytes of a row of shared memory, the most that one box has along its fastest mode
  std::vector<int> order;  // the tensor's modes, fastest first
  std::array<int, 2> box;  // extents of one copy along (outer, k)
  std::array<int, 2>
      slice;  // of the part of the tile that one block of the cluster loads for all that need it
  // Coordinates of the outer index that come to a stage: those of the tile, or more where shared
  // memory has rows along that index, which are whole swizzles. The atom reads the tile's.
  int extent = 0;
  AnyLayout shared;                       // (outer, k) -> offset in elements, one stage
  std::optional<tile::OperandView> view;  // of an operand that is no tensor at bare indices
  std::optional<Fragment> fragment;  // of an atom that reads it from registers, which only A may be

  friend bool operator==(const TmaOperand&, const TmaOperand&) = default;
};

// A tensor with an element for each accumulator, an output or an input of the epilogue, on its way
// through shared memory: 64 rows and a pass' columns of a consumer at a time. 16-bit elements are
// put there and read by copies of a warp, others by the threads that hold the accumulators.
// Between there and memory they travel by TMA where it takes the tensor, else by the consumer's
// threads, of which a warp takes neighbours in memory.
struct StagedTensor {
  sema::TensorId tensor = -1;
  std::vector<sema::IndexId> indices;  // of its modes
  bool along_n = true;                 // neighbours in memory are neighbours along n, not m
  bool tma = true;
  int span = 128;          // bytes of a row of shared memory
  std::vector<int> order;  // by TMA: the tensor's modes, fastest first
  std::array<int, 2>
      box{};    // by TMA: extents of one copy along (m, n), the last time of an atom `rest` along n
  Layout runs;  // by threads: (thread of a consumer, access) -> (m, n) of the access' first element
  int run = 1;  // by threads: elements of an access, neighbours in memory
  AnyLayout shared;      // (m, n) -> offset in elements, 64 rows and at least a pass' columns
  bool matrices = true;  // by copies of a warp
  std::vector<sema::CopyInstruction> copies;  // these; those of most values first
  Layout lanes;       // thread of a consumer -> (m, n): the row that it names to the first of the
                      // copies, or its first value
  Layout held{8, 1};  // value of a step, or of a pass -> (m, n), from the thread's first
  int vector = 8;     // values that one access of a thread takes
  int step = 8;       // values of a thread that go together
  // To avoid bank conflicts, lanes with this bit set rotate the order of their values by `values`.
  struct Rotated {
    int bit = 0, values = 0;

    friend bool operator==(const Rotated&, const Rotated&) = default;
  };
  std::optional<Rotated> rotated;

  // By threads: accesses of a thread to memory that are under way at once, and the columns that all
  // of them take.
  int runs_together() const;
  int run_columns() const;

  friend bool operator==(const StagedTensor&, const StagedTensor&) = default;
};

// An input that is read where its element is assigned.
struct StagedInput : StagedTensor {
  sema::NodeId load = -1;

  friend bool operator==(const StagedInput&, const StagedInput&) = default;
};

// An input of floats that runs along m or along n alone, perhaps at a tile's segment and at the row
// of the outputs that a sorted row is, read before the arithmetic of the elements
// that need it: of the values that a thread takes in a step each row or column once.
struct StagedVector {
  sema::NodeId load = -1;
  int axis = 0;       // 0: along m, 1: along n
  Layout held{1, 0};  // value of a step -> which of the elements read it needs
  Layout read{1, 0};  // element read -> row or column, from the step's first
  int together = 1;   // elements read by one access

  friend bool operator==(const StagedVector&, const StagedVector&) = default;
};

// Tensors that go through shared memory on both sides of the epilogue: 64 rows and `width` columns
// of a consumer at a time, and the last time of an atom the columns that are left. Where all travel
// by TMA and rows lie in memory as they lie in the warps, each warp has its own rows travel, and
// none waits for another.
struct StagedStore {
  int width = 64;
  int rest = 0;     // columns of an atom that whole widths leave
  int buffers = 2;  // of an output and a consumer, used one after the other
  int loads_ahead =
      2;  // of an input that comes by TMA, likewise: as many passes are on their way at once
  bool by_warps = false;
  std::vector<StagedTensor> outputs;  // of each assignment
  std::vector<StagedInput> inputs;
  std::vector<StagedVector> vectors;

  int step() const;         // values of a thread that go together; passes begin with whole steps
  bool out_by_tma() const;  // some output does
  bool in_by_tma() const;
  // Returns the epilogue subtiles that `columns` take.
  int passes(int columns) const { return (columns + width - 1) / width; }

  friend bool operator==(const StagedStore&, const StagedStore&) = default;
};

// The products count only where the condition has this value, so that tiles where it never has it
// need none.
struct Mask {
  sema::NodeId condition = -1;
  bool when = true;

  friend bool operator==(const Mask&, const Mask&) = default;
};

// The exchange between the blocks of a cluster that split K: a consumer's accumulators in passes of
// `values` a thread. Block r of the split adds up, in the order of ranks, and stores the passes r *
// each to r * each + each - 1, as far as there are.
struct Split {
  int values = 0;
  int passes = 0;
  int each = 0;

  friend bool operator==(const Split&, const Split&) = default;
};

// A product of the same A with another B, whose tile, copies and accumulators are as those of B.
struct FurtherGemm {
  sema::NodeId contraction = -1;
  TmaOperand b;

  friend bool operator==(const FurtherGemm&, const FurtherGemm&) = default;
};

// The groups are consumers; a cluster takes one tile of its own, in units of which the order is,
// after another.
struct Sm90Gemm : TensorGemm {
  std::array<int, 3> cluster{1, 1, 1};  // blocks over M and N that share what they load, and over K
  TmaOperand a, b;
  std::vector<FurtherGemm> further;  // products of the same tile, in the order of the program
  std::optional<StagedStore> store;  // through shared memory, where all outputs go through it
  std::optional<Mask> mask;          // of the only output
  std::optional<Split> split;        // where blocks share K
  std::optional<std::array<int, 2>> registers;  // of the producer and of the consumers
  // Of a thread. Two take turns, where each K tile's sums go to totals: the tensor cores multiply
  // the next K tile meanwhile.
  int accumulator_sets = 1;
  int sms = 132;
  // Every other tile of a cluster goes through K from its end, and finds there what the tile before
  // has loaded into L2 last.
  bool alternate_k = false;
  // Parts of K that clusters take, in a last wave that is not whole (sm90_tail.h). 1: it is not
  // cut.
  int tail = 1;

  int products() const { return 1 + static_cast<int>(further.size()); }
  std::vector<sema::NodeId> contractions() const {
    std::vector<sema::NodeId> all{contraction};
    for (const FurtherGemm& each : further) all.push_back(each.contraction);
    return all;
  }
  int consumer_groups() const { return groups[3]; }
  int warpgroups_of_group() const { return groups[0] * groups[1]; }  // consumers that share a tile
  int consumers() const { return consumer_groups() * warpgroups_of_group(); }
  int threads() const { return 128 * (1 + consumers()); }
  int blocks() const { return multicast_size() * cluster[2]; }
  int multicast_size() const { return cluster[0] * cluster[1]; }  // blocks with the same part of K
  // A thread's registers of A in a K tile, where the atom reads it from registers: once more as
  // memory has the elements where they are converted.
  int fragment_registers() const {
    if (!a.fragment) return 0;
    const int values = repeats()[0] * repeats()[2] * a.fragment->values();
    return values * (bits(mma.a_type) + (a.converted ? a.element_bits : 0)) / 32;
  }
  // Times that a consumer stores, a tile.
  int stores() const { return store->passes(mma.shape[1]) * repeats()[0] * repeats()[1]; }
  // Tiles of the whole cluster.
  std::array<int, 2> cluster_tile() const { return {tile[0] * cluster[0], tile[1] * cluster[1]}; }

  friend bool operator==(const Sm90Gemm&, const Sm90Gemm&) = default;
};

}  // namespace lay::plan
