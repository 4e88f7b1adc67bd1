// A bound program of chained products as the kernel IR (product_expander.h).
#pragma once

#include "backend/ir/lower/lower_parts.h"
#include "backend/tile/program.h"

namespace lay::ir {

void expand_products(Declared& declared, const tile::Program& program);

}  // namespace lay::ir
