// A GEMM on the tensor cores of every GPU from compute capability 8.0 on: tiles come to shared
// memory by asynchronous copies, several K tiles ahead, from there to registers as the atom wants
// them, and are multiplied by warps.
//
//   C[m,n] = epilogue(sum[k](A[m,k] * B[n,k]), m, n)
//
// Everything here follows from the schedule's tile, atom, groups and stages and from the tensors'
// layouts. Lanes may copy one operand for themselves, where no two warps multiply the same of it:
// each reads what it has copied, and steps take k in another order (KOrder).
#pragma once

#include "backend/plan/fragments/fragment.h"
#include "backend/plan/fragments/k_order.h"
#include "backend/plan/tensor_gemm.h"

namespace lay::plan {

// How one operand travels: global -> shared -> registers. "Outer" is m for A and n for B. Shared
// memory has elements as memory has them; where the atom multiplies another type they are converted
// in registers: s8 in shared memory becomes bf16 on its way to an atom of bf16.
struct Sm80Operand {
  sema::NodeId value = -1;  // the factor of the product: the load, or casts of it
  sema::NodeId load = -1;
  bool converted = false;  // from the load to the factor, as the atom's type, in registers
  sema::IndexId outer = -1;
  int vector_mode = 0;  // the tensor's mode along which one access runs
  bool along_k = true;  // that mode is k's, not the outer index's; shared memory keeps it together
  int vector = 1;       // elements a global access
  std::optional<sema::CopyInstruction> async;  // that copies a vector to shared memory; else it
                                               // goes through a register
  bool own = false;  // each thread copies what it multiplies, and reads no other's
  Layout threads;    // (thread, (element, access)) -> (outer, k) in the tile: basis strides
  AnyLayout shared;  // (outer, k) -> offset in elements, one stage
  Fragment fragment;

  friend bool operator==(const Sm80Operand&, const Sm80Operand&) = default;
};

// The groups are warps; a block takes one tile. It has groups[2] slices of groups[0] * groups[1]
// warps: slice s adds the products of the s-th part of every K tile, and at the end the sums of
// slice 1, 2, ... are added to those of slice 0 in this order. With a promotion interval each slice
// has its own totals.
struct Sm80Gemm : TensorGemm {
  Sm80Operand a, b;

  friend bool operator==(const Sm80Gemm&, const Sm80Gemm&) = default;

  int slice_threads() const { return 32 * groups[0] * groups[1]; }
  int threads() const { return slice_threads() * groups[2]; }
  // Steps of the atom along k that one slice has of a K tile.
  int steps() const { return repeats()[2] / groups[2]; }
  // The order of k, where an operand is its threads' own.
  std::optional<KOrder> order_of_k() const;
  // K tiles whose scales a thread holds. Few products, as beside an operand that is threads' own,
  // hide no latency, so that scales are read a K tile ahead; not where several share them.
  int tiles_of_scales() const;
};

}  // namespace lay::plan
