// What the verifier asks about the layouts of a product's program. The variants of a plan ask again
// and again, so that each answer is kept.
#pragma once

#include <cstddef>
#include <cstdint>

#include "frontend/algebra/layouts/layout.h"
#include "frontend/sema/kernel/atom.h"

namespace lay::tile {

// The places of a layout in shared memory, in elements.
struct Places {
  std::size_t count = 0;
  std::int64_t least = 0, most = 0;
  bool once = true;  // no two elements have one
};
Places places_of(const AnyLayout& layout);

// Returns true if the layout has every coordinate of the extents once.
bool is_cover(const Layout& layout, const Tuple& extents);

// Returns true if the first threads and values of a layout onto numbers, rows the fastest, are
// those of the instruction.
bool begins_as(const Layout& numbers, const sema::Atom& atom, int threads);

}  // namespace lay::tile
