// Layouts of a product's schedule, onto (m, n) of a slice or (outer, k) of an operand, as those of
// its tile program, onto the program's axes, and back.
#pragma once

#include <array>

#include "backend/tile/program.h"

namespace lay::plan {

// (thread, value) -> (outer, k) as one onto the axes `outer` and `k`, and back:
//   ((2,64),(4,1)):((4@1,1@0),(1@1,64@0))     of B, on columns n = axis 1 and k = axis 2, is
//   ((2,64),(4,1)):((4@2,1@1),(1@2,64@1))
Layout onto_axes(const Layout& operand, tile::AxisId outer, tile::AxisId k);
Layout from_axes(const Layout& threads, tile::AxisId outer);

// The program's axis of the instruction's rows (0) or columns (1), and the other way.
inline int axis_of(bool exchanged, int side) {
  return exchanged ? 1 - side : side;
}

// Of the instruction's rows and columns what the program's have, and back: exchanging is its own
// inverse. A layout onto (m, n, ...) has its first two axes exchanged, and the others as they are:
//
//   threads (4,8):(2@1,1@0) of the instruction       (4,8):(2@0,1@1) of an exchanged program
template <class T>
std::array<T, 2> on_axes(bool exchanged, const T& rows, const T& columns) {
  return exchanged ? std::array<T, 2>{columns, rows} : std::array<T, 2>{rows, columns};
}
Layout on_axes(bool exchanged, const Layout& layout);
// Groups of rows are of the instruction's in either case (tile::Grid).
tile::TileOrder on_axes(bool exchanged, const tile::TileOrder& order);

// The threads of all slices, one behind the other, of those of one: (thread of a slice, slice), the
// thread's own mode where there is one slice. Slice s begins at element s * tile / slices of a tile
// of k: of 16 elements two slices begin at 0 and 8, 2:8@2. And back.
Layout with_slices(const Layout& of_slice, int slices, int tile, tile::AxisId k);
Layout without_slices(const Layout& threads, int slices);

}  // namespace lay::plan
