#pragma once

// Where two layouts count in one place: strides that are added, offsets that are compared.

#include "frontend/algebra/layouts/layout.h"

namespace lay {

// The one of both that is known. Refusal "units" if both are known and differ.
Unit common_codomain(const Unit& a, const Unit& b);
// Returns, for a composed layout, what its layout gives, which the swizzle permutes.
Unit codomain_of(const AnyLayout& a);

}  // namespace lay
