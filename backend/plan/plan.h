// A plan: how a checked kernel is executed. An ordered list of variants, each with the conditions under which it is
// right, and every choice of its schedule as a layout or a named number that `lay plan` prints back as Lay.
//
// The launcher takes the first variant whose conditions hold for the sizes and pointers at hand. The last variant has
// no condition of its own, so that every launch that keeps the kernel's guards finds one.
#pragma once

#include <array>
#include <string>
#include <variant>
#include <vector>

#include "frontend/algebra/facts.h"
#include "frontend/algebra/int.h"
#include "frontend/algebra/layout.h"
#include "frontend/sema/kernel.h"

namespace lay::plan {

// How one operand of the contraction travels: global -> registers -> shared, one stage, in elements.
struct OperandCopy {
  sema::TensorId tensor = -1;
  int outer_mode = 0, k_mode = 1;  // which of the tensor's modes run along the tile's M (or N) and along K
  bool k_contiguous = true;        // the unit stride is K's
  int vector = 1;                  // elements a global access
  Layout threads;                  // (thread, value) -> 1-D coordinate of the (tile outer, tile K) tile, outer fastest
  Layout shared;                   // (tile outer, tile K) -> offset, one stage, padding included
};

// C[m,n] = epilogue(sum[k](A[m,k] * B[n,k]), m, n) by the CUDA cores: tiles through shared memory to registers.
struct SimtGemm {
  sema::NodeId contraction = -1;  // in Kernel::nodes
  sema::IndexId m = -1, n = -1, k = -1;
  std::vector<sema::IndexId> batch;  // further output indices, one block index each
  std::array<int, 3> tile{128, 128, 8};
  std::array<int, 4> groups{2, 4, 1, 1};  // warps over tile M, N, K and over successive tiles
  Layout lanes;                           // lane -> (row, column) of the warp's 2-D lane grid: basis strides
  std::array<int, 2> lane_grid{4, 8};
  std::array<int, 3> lane_tile{4, 4, 1};
  int stages = 2;
  OperandCopy a, b;
  int store_vector = 1;  // elements of C a global access
  Layout order;          // block index -> tile coordinate: basis strides
};

// Anything else: one thread an output element, contractions as plain loops.
struct Direct {
  int threads = 256;
};

// The base address of a tensor is a multiple of `bytes`.
struct Alignment {
  sema::TensorId tensor;
  int bytes;
};

// Shared-memory wavefronts of one access of one warp: 1 is free of conflicts.
struct BankConflicts {
  std::string access;
  int wavefronts = 1, least = 1;
};

struct Prediction {
  int registers = 0;  // a thread
  int shared_bytes = 0;
  std::vector<BankConflicts> conflicts;
  Int global_bytes;  // read and written by a launch, a tile's operands counted once a tile
  Int flops;
};

struct Variant {
  std::string name;             // unique in the plan; part of the emitted kernel's name
  std::vector<Predicate> when;  // over the dims
  std::vector<Alignment> aligned;
  std::variant<SimtGemm, Direct> how;
  Int workspace = Int(0);  // bytes
  Prediction prediction;
  std::vector<std::string> notes;  // why it is so: choices a reader may want to argue with
};

struct Plan {
  sema::KernelPtr kernel;
  std::vector<Variant> variants;
};

}  // namespace lay::plan
