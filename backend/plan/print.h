// The complete schedules of a plan as Lay, ready to paste and edit, with predictions as comments. A launch that copies
// operands first comes before the first variant that begins with it, as a kernel for each copy.
#pragma once

#include <string>
#include <vector>

#include "backend/plan/plan.h"

namespace lay::plan {

std::string print_plan(const Plan& plan);

// The schedule of one variant, a line each: what the emitted file says first.
std::vector<std::string> schedule_lines(const Plan& plan, const Variant& variant);

}  // namespace lay::plan
