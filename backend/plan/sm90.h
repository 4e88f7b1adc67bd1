// The shape of a GEMM on Hopper's tensor cores.
#pragma once

#include <optional>
#include <vector>

#include "backend/plan/copies.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule.h"
#include "backend/plan/sm90_gemm.h"
#include "backend/plan/target.h"

namespace lay::plan {

// Whether the factors of the product are elements that tensor cores multiply as they lie in memory: under casts to the
// accumulator's type at most, which change no value.
bool multiplies_as_stored(const sema::Kernel& kernel, const GemmForm& form);

// Everything that follows from a schedule, checked: the accumulators of the consumers cover the tile exactly once, the
// atom can read what TMA writes, registers and shared memory suffice. Nothing, without a problem, where TMA cannot read
// the operands whatever their sizes. Problems: "schedule-entry" (no atom or one of another kind), "schedule-types",
// "schedule-cover", "schedule-order", "schedule-smem", "schedule-cluster", "schedule-shared", "schedule-registers",
// "schedule-threads", "unsupported".
// With Width::elements outputs are written element by element, whatever their strides.
std::optional<Sm90Gemm> shape_sm90(const sema::Kernel& kernel, const GemmForm& form, const TensorSchedule& schedule,
                                   Width width, const Target& target, Facts& facts, Conditions& conditions,
                                   std::vector<Problem>& problems);

// Bytes of shared memory: stages, the output on its way, barriers.
int shared_bytes(const Sm90Gemm& gemm, const sema::Kernel& kernel);

}  // namespace lay::plan
