// Schedules for tensor cores as variants of a plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/plan/copies.h"
#include "backend/plan/plan.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/schedule.h"
#include "backend/plan/sm90/sm90_gemm.h"
#include "backend/target/target.h"

namespace lay::plan {

// The schedule's variant of a family, "sm80" or "sm90". With Width::elements global memory is read,
// or where TMA reads it written, element by element. Nothing where the kernel is not one that the
// schedule can run, or where vectors that were asked for are never possible: with problems if the
// schedule is the user's.
std::optional<Variant> tensor_variant(const std::string& family, const sema::KernelPtr& kernel,
                                      const GemmForm& form, const TensorSchedule& schedule,
                                      Width width, const Target& target, const Facts& facts,
                                      std::vector<Problem>& problems);

// What such a schedule of the family "sm90" chooses, which its variant says as a tile program
// (sm90/bind_sm90.h); nothing where it has none.
std::optional<Sm90Gemm> chosen_for_sm90(const sema::Kernel& kernel, const GemmForm& form,
                                        const TensorSchedule& schedule, Width width,
                                        const Target& target, const Facts& facts);

}  // namespace lay::plan
