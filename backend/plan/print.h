// The complete schedules of a plan as Lay, ready to paste and edit, with predictions as comments.
#pragma once

#include <string>
#include <vector>

#include "backend/plan/plan.h"

namespace lay::plan {

std::string print_plan(const Plan& plan);

// The schedule of one variant, a line each: what the emitted file says first.
std::vector<std::string> schedule_lines(const Plan& plan, const Variant& variant);

}  // namespace lay::plan
