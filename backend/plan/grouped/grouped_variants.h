// Plans of grouped products on Hopper's tensor cores.
#pragma once

#include "backend/plan/plan.h"
#include "backend/target/target.h"
#include "frontend/algebra/integers/facts.h"

namespace lay::plan {

// Adds variants of a kernel that is a grouped product (grouped_product.h): launches that compute
// the segment of each row and the rows of each tile, and the product. One tile has the rows of one
// segment alone, so that empty segments cost nothing and no row is padded in memory. Returns
// whether there are any; sizes and pointers that none takes are left to the caller.
bool add_grouped_variants(Plan& plan, Facts& facts, const Target& target);

}  // namespace lay::plan
