// Schedules for CUDA cores as variants of a plan.
#pragma once

#include <optional>
#include <vector>

#include "backend/plan/plan.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/schedule.h"
#include "backend/target/target.h"

namespace lay::plan {

// The schedule's variant for a product. With Width::elements global memory is accessed element by
// element, in two stages: the producer threads would need more registers than a ring leaves them.
// Nothing, and problems, where the schedule does not fit; nothing alone where its conditions never
// hold, or where no access is a vector, unless the schedule says that it is.
std::optional<Variant> simt_variant(const sema::KernelPtr& kernel, const GemmForm& form,
                                    SimtSchedule schedule, Width width, const Target& target,
                                    const Facts& known, std::vector<Problem>& problems);

}  // namespace lay::plan
