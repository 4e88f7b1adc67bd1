// The complete schedules of a plan as Lay, ready to paste and edit, with predictions as comments. A
// launch that copies operands first comes before the first variant that begins with it, as a kernel
// for each copy.
#pragma once

#include <string>
#include <vector>

#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::plan {

std::string print_plan(const Plan& plan);  // and what its GPU makes of each variant
// And behind each variant what it takes at these sizes.
std::string print_plan(const Plan& plan, const Binding& sizes, const Target& target);

// The forecast of a variant (forecast.h), a comment a line; that there is none, where there is
// none.
std::vector<std::string> forecast_lines(const Plan& plan, const Variant& variant,
                                        const Binding& sizes, const Target& target);

// The schedule of one variant, a line each: what the emitted file says first.
std::vector<std::string> schedule_lines(const Plan& plan, const Variant& variant);

}  // namespace lay::plan
