// The variants of a product of two factors: those of the script's schedules, of `lay tune` and of
// the library's policies, in the order in which the launcher tries them.
#pragma once

#include "backend/plan/plan.h"
#include "backend/plan/recognise.h"
#include "backend/target/target.h"

namespace lay::plan {

// Adds variants until one takes all sizes. Where none does, the caller adds one that does.
void add_gemm_variants(Plan& plan, const GemmForm& form, Facts& facts, const Target& target);

}  // namespace lay::plan
