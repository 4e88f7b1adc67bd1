// The shape of a GEMM on the tensor cores of compute capability 8.0.
#pragma once

#include <optional>

#include "backend/plan/sm80/sm80_gemm.h"
#include "backend/plan/tensor_shape.h"

namespace lay::plan {

// Everything that follows from a schedule, checked: the accumulators of the warps cover the tile
// exactly once, the threads share the copies evenly, registers and shared memory suffice. With
// Width::elements global memory is read element by element, under no further conditions; with
// Width::vectors in 16 bytes, and nothing, without a problem, where that is never possible for both
// operands. Problems: "schedule-entry", "schedule-types", "schedule-cover", "schedule-copy",
// "schedule-rasterization", "schedule-smem", "schedule-shared", "schedule-registers",
// "schedule-threads", "unsupported".
std::optional<Sm80Gemm> shape_sm80(const TensorShaping& shaping);

// Bytes of shared memory: all stages, and the sums that slices hand over.
int shared_bytes(const Sm80Gemm& gemm, const sema::Kernel& kernel);
// Registers a thread: accumulators, totals and two sets of fragments, of its own operand one and a
// K tile; with scales, what they and their addresses take.
int least_registers(const Sm80Gemm& gemm, const sema::Kernel& kernel);
// Those and addresses.
int likely_registers(const Sm80Gemm& gemm, const sema::Kernel& kernel);

// Blocks of an SM that a kernel's registers have to leave room for. The compiler takes more for
// addresses than it needs where it is left to: where threads copy an operand for themselves, of
// which more is on its way the more there are, 16 warps get 128 each. 1 for other kernels.
int blocks_of_sm(const Sm80Gemm& gemm, const sema::Kernel& kernel);

}  // namespace lay::plan
