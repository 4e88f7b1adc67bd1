// A plan for a layout change: the variants of its schedules, else those of the default one.
#pragma once

#include "backend/plan/permute/relayout_form.h"
#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::plan {

// Adds variants, or problems.
void plan_layout_change(Plan& plan, const RelayoutForm& form, const Facts& facts,
                        const Target& target);

}  // namespace lay::plan
