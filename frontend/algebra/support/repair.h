#pragma once

// Inside the algebra: what a refusal says besides its sentence.

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "frontend/algebra/layouts/layout.h"

namespace lay {

// A literal layout with its strides moved apart, as little as makes each a multiple of the one
// below it and no less than what the modes below it cover: then it is injective, and CuTe's form
// undoes it. Nothing where numbers do not fit.
std::optional<Layout> spread(const Layout& a);

using Numbers = std::map<DimId, Int>;
// An operation with numbers for the sizes: throws its Refusal; false where it is not tried.
using AtSizes = std::function<bool(Facts&, const Numbers&)>;

// Adds the smallest sizes that the facts allow and at which the operation is refused, and the
// witness there.
void show_sizes(const Facts& facts, const std::vector<Layout>& operands, const AtSizes& operation,
                Refusal& r);

// The layout with these sizes, if all of it is known then and it has no more than 2^12 elements.
std::optional<Layout> small_at(const Layout& a, const Numbers& numbers);

}  // namespace lay
