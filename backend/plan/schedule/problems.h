// Why a schedule makes no variants of a product: what it says, or leaves out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "backend/plan/schedule/schedule.h"
#include "backend/target/target.h"

namespace lay::plan {

// A schedule without `mma`, and no row of the library that completes it.
Problem no_row(const sema::Kernel& kernel, const GemmForm& form, const TensorSchedule& said,
               const std::string& target);
// `repack` without `mma`.
Problem repack_without_atom(const TensorSchedule& said);
// `operands` where both are tensors as they stand.
Problem operands_of_tensors(const TensorSchedule& said);
// `outputs` where the product's tiles store all of them as they lie.
Problem outputs_of_tiles(const ScheduleHead& said);
// `repack` where the rows lie in segments, operands are read by views, or products share one.
Problem repack_in_place(const TensorSchedule& said, const GemmForm& form);
// `accesses` in vectors where no tensor has any.
Problem no_vectors(const ScheduleHead& schedule);

// A copy of the entry `copies` that the GPU is too old for; nothing where it has all.
std::optional<Problem> copy_of_later_gpus(const TensorSchedule& said, const Target& target);
// Adds a problem for a copy of the entry `copies` that copies nothing in the schedule's variants,
// those from `first` on; nothing where there are none.
void check_copies(Plan& plan, const TensorSchedule& said, std::size_t first);

}  // namespace lay::plan
