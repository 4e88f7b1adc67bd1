// The rows of the standard library's policies that a product may take.
#pragma once

#include <string>
#include <vector>

#include "backend/plan/plan.h"
#include "backend/plan/recognise.h"
#include "frontend/sema/library.h"

namespace lay::plan {

// Returns the rows of `target` for the kernel's types, epilogue and operands: schedules in Lay, and
// the sizes that they are for. `in_parts`: with sums that are promoted every so much of K. None for
// operands that are as wide as their sum, which tensor cores do not multiply: to read the library
// takes longer than all else in the plan of such a kernel.
std::vector<sema::Policy> library_rows(const std::string& target, const sema::Kernel& kernel,
                                       const GemmForm& form, Facts& facts, bool in_parts);

}  // namespace lay::plan
