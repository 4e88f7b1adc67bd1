// A schedule for Hopper's tensor cores as a variant of a plan.
#pragma once

#include <optional>
#include <vector>

#include "backend/plan/copies.h"
#include "backend/plan/plan.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule.h"
#include "backend/plan/target.h"

namespace lay::plan {

// With Width::elements the variant whose outputs are written element by element. Nothing where the kernel
// is not one that the schedule can run: with problems if the schedule is the user's.
std::optional<Variant> sm90_variant(const sema::Kernel& kernel, const GemmForm& form, const TensorSchedule& schedule,
                                    Width width, const Target& target, const Facts& facts,
                                    std::vector<Problem>& problems);

}  // namespace lay::plan
