// The variants of a kernel that is computed in stages (stages.h): a launch for each stage, or two
// where a stage splits its columns.
#pragma once

#include "backend/plan/plan.h"
#include "backend/target/target.h"
#include "frontend/algebra/integers/facts.h"

namespace lay::plan {

// Adds variants, each of which has one variant of every stage. The first stage tells them apart:
// there are as many as it has, and at most as many again without wide accesses in the others.
// Returns whether the kernel has stages. The last variant may have conditions.
bool add_staged_variants(Plan& plan, const Facts& facts, const Target& target);

}  // namespace lay::plan
