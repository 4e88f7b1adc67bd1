#pragma once

// Inside the algebra: left inverses of literal layouts by search, where no rule applies.

#include <optional>

#include "frontend/algebra/layout.h"

namespace lay {

// a(r(a(i))) == a(i) for every i; literal integer strides, a of at most 2^20 elements (false beyond).
bool is_left_inverse(const Layout& a, const Layout& r);

struct InverseSearch {
  std::optional<Layout> found;
  bool exhausted = false;  // every sequence of extents was tried: there is none
};
// Tries the extents of r one after another, smallest first. For each, r must give the first index of every value of a:
// linear equations for the strides. Values that agree above the extents tried so far already give equations, so that
// most extents are left at once. Bounded in steps; nothing beyond 2^20 elements or for symbols.
InverseSearch search_left_inverse(const Layout& a);

}  // namespace lay
