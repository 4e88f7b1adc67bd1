// How a warp loads its part of an operand from a tile in shared memory into the registers that an
// atom reads.
#pragma once

#include <array>

#include "backend/plan/worst_access.h"
#include "frontend/algebra/layouts/layout.h"

namespace lay::plan {

struct Fragment {
  Layout held;   // (lane, value) -> (outer, k) in the atom's operand: basis strides
  Layout warps;  // warp of those that execute the atom -> (outer, k): where its lanes' part begins
  bool along_k =
      true;  // shared memory keeps neighbours along k together; else along the outer index
  int matrices =
      0;  // matrices of 8 rows of 16 bytes that one ldmatrix reads; 0: element by element
  bool transposed = false;  // ldmatrix.trans
  int together = 1;         // without matrices: values of one read, neighbours in shared memory
  Layout rows;  // lane -> (outer, k): where the row lies that the lane names to ldmatrix

  int values() const;  // of a lane, for one atom
};

// Returns the fragment of an operand of an atom of warps. `operand`: (thread, value) ->
// column-major index in a tile of `shape` (outer, k), of which shared memory has rows along k or
// along the outer index. By ldmatrix where the values are those of its matrices. Refuses threads
// whose warps have no layout of their own.
Fragment fragment_from(const Layout& operand, std::array<int, 2> shape, bool along_k,
                       int element_bits);

// Lets one read bring as many values as lie side by side in rows of shared memory for every lane,
// of 16 bytes at most: of bytes along k two for m16n8k16. Where ldmatrix reads them, nothing.
void read_together(Fragment& fragment, int element_bits);

// The worst read of a warp where a tile of that extent along (outer, k) lies as `shared` says.
Wavefront worst_read(const Fragment& fragment, const AnyLayout& shared, std::array<int, 2> tile,
                     std::array<int, 2> atom, int element_bits);

}  // namespace lay::plan
