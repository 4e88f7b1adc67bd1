// The last wave of a product's tiles, where it is not whole (schedule entry `tail`): clusters take
// a part of K of a tile each, and leave their sums to one another in workspace.
//
//   tail_sums    (value, thread, unit of a block)    the sums of a part, by its number in the tail
//   tail_counts  (warpgroup of a tile)               parts of a tile whose sums are there
//
// A warpgroup of consumers writes its sums and counts. The one that counts last reads those of all
// parts, its own too, adds them up in the order of parts, and goes on as behind a whole tile. So
// nobody waits, and the bits do not depend on who comes last. A launch before sets the numbers to
// 0.
//
// Law: units behind the whole tiles are at most (parts - 1) times the clusters
// (tile/products/tile_order.h), so that the workspace does not depend on the sizes.
#pragma once

#include <optional>

#include "backend/plan/plan.h"
#include "backend/plan/schedule/schedule.h"
#include "backend/plan/sm90/sm90_gemm.h"
#include "backend/plan/tensor_shape.h"
#include "backend/target/target.h"

namespace lay::plan {

// A tensor in workspace that no kernel of a script has.
struct TailTensor {
  std::string name;  // which no tensor of the kernel has
  ElementType element = ElementType::f32;
  Layout layout;
};
struct TailTensors {
  TailTensor sums, counts;
};
// Sums have (parts - 1) units for each block that runs at once, in which accesses of 16 bytes of
// neighbouring threads lie side by side; counts a number for each warpgroup of consumers of these
// blocks. Neither depends on the sizes, so that one workspace takes all launches.
TailTensors tail_tensors(const sema::Kernel& kernel, const Sm90Gemm& gemm);

// A thread's sums of a tile.
int sums_of_thread(const Sm90Gemm& gemm);

// Takes the entry `tail` into gemm, whose other choices are made. False, and a problem
// "unsupported" or "schedule-entry", where it does not go with these.
bool choose_tail(const TensorShaping& at, Sm90Gemm& gemm);

// Adds to a variant of such a product the tensors in workspace and the launch that comes first.
void add_tail(Variant& variant, const sema::Kernel& kernel, const Sm90Gemm& gemm,
              const Target& target);

}  // namespace lay::plan
