// The shape of a GEMM on Hopper's tensor cores.
#pragma once

#include <optional>

#include "backend/plan/sm90/sm90_gemm.h"
#include "backend/plan/tensor_shape.h"

namespace lay::plan {

// Everything that follows from a schedule, checked: the accumulators of the consumers cover the
// tile exactly once, the atom can read what TMA writes, registers and shared memory suffice. With
// Width::elements outputs are written element by element, whatever their strides. Problems:
// "schedule-entry" (no atom or one of another kind), "schedule-types", "schedule-cover",
// "schedule-rasterization", "schedule-smem", "schedule-cluster", "schedule-shared",
// "schedule-registers", "schedule-threads", "unsupported" (also where TMA cannot read the operands,
// whatever their sizes).
std::optional<Sm90Gemm> shape_sm90(const TensorShaping& shaping);

// Bytes of shared memory: stages, the output on its way, barriers.
int shared_bytes(const Sm90Gemm& gemm, const sema::Kernel& kernel);

}  // namespace lay::plan
