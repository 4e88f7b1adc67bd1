// Layouts of a product's schedule, onto (m, n) of a slice or (outer, k) of an operand, as those of
// its tile program, onto the program's axes, and back.
#pragma once

#include "backend/tile/program.h"

namespace lay::plan {

// (thread, value) -> (outer, k) as one onto the axes `outer` and `k`, and back:
//   ((2,64),(4,1)):((4@1,1@0),(1@1,64@0))     of B, on columns n = axis 1 and k = axis 2, is
//   ((2,64),(4,1)):((4@2,1@1),(1@2,64@1))
Layout onto_axes(const Layout& operand, tile::AxisId outer, tile::AxisId k);
Layout from_axes(const Layout& threads, tile::AxisId outer);

// The layout with rows and columns exchanged: (8,4):(1@0,1@1) is (8,4):(1@1,1@0). Other axes stay.
Layout with_exchanged(const Layout& layout);

// The threads of all slices, one behind the other, of those of one: (thread of a slice, slice), the
// thread's own mode where there is one slice. Slice s begins at element s * tile / slices of a tile
// of k: of 16 elements two slices begin at 0 and 8, 2:8@2. And back.
Layout with_slices(const Layout& of_slice, int slices, int tile, tile::AxisId k);
Layout without_slices(const Layout& threads, int slices);

}  // namespace lay::plan
