// The promise of a grouped product's caller, which launches on tensor cores do not check.
#pragma once

#include "backend/plan/plan.h"
#include "frontend/sema/kernel/kernel_call.h"

namespace lay::runtime {

// Refusal "bounds", as of `reference`, where the variant takes rows in segments
// (plan/grouped/row_segments.h) and a row of the call selects a part of B that there is not:
// W[expert[t],n,k] with expert[t] = 5 of 5.
void check_segments(const plan::Variant& variant, const sema::KernelCall& call);

}  // namespace lay::runtime
