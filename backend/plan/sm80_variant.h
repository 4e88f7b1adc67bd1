// Schedules for the tensor cores of compute capability 8.0 as variants of a plan.
#pragma once

#include <optional>
#include <vector>

#include "backend/plan/copies.h"
#include "backend/plan/plan.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule.h"
#include "backend/plan/target.h"

namespace lay::plan {

// Nothing where the kernel is not one that the schedule can run, with problems if the schedule is the user's, or where
// vectors that were asked for are never possible.
std::optional<Variant> sm80_variant(const sema::Kernel& kernel, const GemmForm& form, const TensorSchedule& schedule,
                                    const Target& target, const Facts& facts, Width width,
                                    std::vector<Problem>& problems);

}  // namespace lay::plan
