// A GEMM on the tensor cores of every GPU from compute capability 8.0 on: tiles come to shared memory by asynchronous
// copies, several K tiles ahead, from there to registers as the atom wants them, and are multiplied by warps.
//
//   C[m,n] = epilogue(sum[k](A[m,k] * B[n,k]), m, n)
//
// Everything here follows from the schedule's tile, atom, groups and stages and from the tensors' layouts.
#pragma once

#include <array>
#include <vector>

#include "frontend/algebra/layout.h"
#include "frontend/sema/atom.h"
#include "frontend/sema/kernel.h"

namespace lay::plan {

// How one operand travels: global -> shared -> registers. "Outer" is m for A and n for B.
struct Sm80Operand {
  sema::NodeId load = -1;
  sema::IndexId outer = -1;
  int vector_mode = 0;      // the tensor's mode along which one access runs
  bool along_k = true;      // that mode is k's, not the outer index's; shared memory keeps it together
  int vector = 1;           // elements a global access
  bool async = false;       // by cp.async; else through a register
  Layout threads;           // (thread, (element, access)) -> (outer, k) in the tile: basis strides
  AnyLayout shared;         // (outer, k) -> offset in elements, one stage
  Layout fragment;          // (lane, value) -> (outer, k) in the atom's operand: basis strides
  int matrices = 0;         // matrices of 8 rows of 16 bytes that one ldmatrix reads; 0: element by element
  bool transposed = false;  // ldmatrix.trans
  Layout rows;              // lane -> (outer, k): where the row lies that the lane names to ldmatrix
};

struct Sm80Gemm {
  sema::NodeId contraction = -1;
  sema::IndexId m = -1, n = -1, k = -1;
  std::vector<sema::IndexId> batch;  // further output indices: further coordinates of a tile
  sema::Atom mma;
  std::array<int, 3> tile{128, 128, 32};
  std::array<int, 4> groups{2, 2, 1, 1};  // warps over tile M, N, K and over successive tiles
  int stages = 4;
  Sm80Operand a, b;
  Layout accumulators;       // (thread, value) -> (m, n) in the tile: basis strides; value (of the atom, (i, j))
  std::vector<int> vectors;  // of each assignment: elements along n that one access writes
  Layout order;              // block -> (tile m, tile n, batch...): basis strides

  int threads() const { return 32 * groups[0] * groups[1]; }
  // The part of the tile that one warp has.
  std::array<int, 2> part() const { return {tile[0] / groups[0], tile[1] / groups[1]}; }
  // Atoms of one warp along m, n and k.
  std::array<int, 3> repeats() const {
    return {part()[0] / mma.shape[0], part()[1] / mma.shape[1], tile[2] / mma.shape[2]};
  }
};

}  // namespace lay::plan
