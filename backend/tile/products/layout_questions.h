// What the verifier asks about the layouts of a product's program. The variants of a plan ask again
// and again, so that each answer is kept.
#pragma once

#include <array>
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

// Returns true if warps hold an operand of the instruction, its first (0) or its second (1), by a
// layout (thread, (element, access)) -> coordinate with elements along `axes`, (outer, k). Element
// e of an access is one of the e / V-th of several steps, where lanes hold V neighbours along k of
// one; what lanes hold of a step is what the instruction gives them, but that the lanes which share
// a row may have other k: the same ones for all rows. Accesses are of the rows of a lane first,
// then of instructions along the outer index, then along k. Warps are counted along the outer
// index, then in slices of k.
bool holds_operand(const Layout& threads, int elements, const sema::Atom& atom, int side,
                   std::array<int, 2> axes, int slices);

}  // namespace lay::tile
