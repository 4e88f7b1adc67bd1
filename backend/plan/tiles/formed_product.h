// The tile program of a variant that multiplies by a lowering of its own.
#pragma once

#include <optional>
#include <variant>

#include "backend/plan/plan.h"
#include "backend/tile/products/product.h"

namespace lay::plan {

// Returns what the variant's own launch computes in which order, or why no tile program says it;
// nothing for a launch that is no product.
std::optional<std::variant<tile::Program, tile::NotTiled>> formed_product(const Plan& plan,
                                                                          const Variant& variant);

}  // namespace lay::plan
