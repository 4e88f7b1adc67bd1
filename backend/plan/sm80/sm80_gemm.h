// A GEMM on the tensor cores of every GPU from compute capability 8.0 on: tiles come to shared
// memory by asynchronous copies, several K tiles ahead, from there to registers as the atom wants
// them, and are multiplied by warps.
//
//   C[m,n] = epilogue(sum[k](A[m,k] * B[n,k]), m, n)
//
// Everything here follows from the schedule's tile, atom, groups and stages and from the tensors'
// layouts.
#pragma once

#include "backend/plan/fragment.h"
#include "backend/plan/tensor_gemm.h"

namespace lay::plan {

// How one operand travels: global -> shared -> registers. "Outer" is m for A and n for B.
struct Sm80Operand {
  sema::NodeId load = -1;
  sema::IndexId outer = -1;
  int vector_mode = 0;  // the tensor's mode along which one access runs
  bool along_k = true;  // that mode is k's, not the outer index's; shared memory keeps it together
  int vector = 1;       // elements a global access
  bool async = false;   // by cp.async; else through a register
  Layout threads;       // (thread, (element, access)) -> (outer, k) in the tile: basis strides
  AnyLayout shared;     // (outer, k) -> offset in elements, one stage
  Fragment fragment;
};

// The groups are warps; a block takes one tile.
struct Sm80Gemm : TensorGemm {
  Sm80Operand a, b;

  int threads() const { return 32 * groups[0] * groups[1]; }
};

}  // namespace lay::plan
