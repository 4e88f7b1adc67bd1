// Which variants of a plan take given sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/plan/plan.h"

namespace lay::plan {

// Returns true if the sizes meet the variant's conditions.
bool fits(const Variant& variant, const Binding& sizes);

// A variant whose conditions hold at given sizes.
struct Fitting {
  std::size_t portfolio;  // counted in the plan's order; a variant without a cost is one
  std::int64_t cost;      // 0 without one; the greatest where it does not fit 64 bits
  const Variant* variant;
};

// Those whose conditions hold at these sizes, as the launcher prefers them: in the plan's order,
// and those of a portfolio by their costs. Alignment is the launcher's to see.
std::vector<Fitting> fitting(const Plan& plan, const Binding& sizes);
std::vector<const Variant*> fitting_variants(const Plan& plan, const Binding& sizes);

// The first of them. Sizes meet the kernel's guards, so that there is one: std::logic_error else.
const Variant& chosen_variant(const Plan& plan, const Binding& sizes);

}  // namespace lay::plan
