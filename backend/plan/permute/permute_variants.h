// A plan for a permute kernel: the variants of its schedules, else those of the default one.
#pragma once

#include "backend/plan/permute/permute_form.h"
#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::plan {

// Adds variants, or problems.
void add_permute_variants(Plan& plan, const PermuteForm& form, const Facts& facts,
                          const Target& target);

}  // namespace lay::plan
