#pragma once

// Inside the algebra: layouts as flat lists of modes.

#include <vector>

#include "frontend/algebra/layouts/layout.h"

namespace lay {

struct Mode {
  Int extent;
  Tuple stride;  // an integer or a basis element
};

std::vector<Mode> flat_modes(const Layout& a);
// Modes side by side; one alone is a layout of rank 1 without parentheses, none is 1:0.
Layout from_modes(const std::vector<Mode>& modes, const Units& units);

// extent * stride == next, for all sizes that the facts allow: the two modes are one.
bool steps_into(const Facts& facts, const Int& extent, const Tuple& stride, const Tuple& next);
// The extent is 1 for all sizes that the facts allow.
bool is_one(const Facts& facts, const Int& extent);

// Refuses strides that are no integers.
void require_integer_strides(const char* operation, const Layout& a);

// The positions of the modes by ascending stride: by value where known, by the facts, else as
// written. Integer strides only.
std::vector<size_t> by_stride(const Facts& facts, const std::vector<Mode>& modes);

// right_inverse as far as the facts show it, without guards: what is undecided ends it. For bounds.
Layout known_right_inverse(Facts& facts, const Layout& a);

}  // namespace lay
