// Which variants of a plan take given sizes.
#pragma once

#include <vector>

#include "backend/plan/plan.h"

namespace lay::plan {

// Returns true if the sizes meet the variant's conditions.
bool fits(const Variant& variant, const Binding& sizes);

// Those whose conditions hold at these sizes, as the launcher prefers them: in the plan's order,
// and those of a portfolio by their costs. Alignment is the launcher's to see.
std::vector<const Variant*> fitting_variants(const Plan& plan, const Binding& sizes);

// The first of them. Sizes meet the kernel's guards, so that there is one: std::logic_error else.
const Variant& chosen_variant(const Plan& plan, const Binding& sizes);

}  // namespace lay::plan
