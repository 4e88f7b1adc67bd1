// How a warp loads its part of an operand from a tile in shared memory into the registers that an
// atom reads.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "backend/plan/fragments/worst_access.h"
#include "frontend/algebra/layouts/layout.h"
#include "frontend/sema/kernel/copy_instruction.h"

namespace lay::plan {

struct Fragment {
  Layout held;   // (lane, value) -> (outer, k) in the atom's operand: basis strides
  Layout warps;  // warp of those that execute the atom -> (outer, k): where its lanes' part begins
  bool along_k =
      true;  // shared memory keeps neighbours along k together; else along the outer index
  std::optional<sema::CopyInstruction> copy;  // that reads all values of a lane; else one by one
  int row = 0;                                // by it: elements of a row that a lane names
  int together = 1;  // without: values of one read, neighbours in shared memory
  Layout rows;       // by it: lane -> (outer, k): where the row lies that the lane names

  int values() const;  // of a lane, for one atom

  friend bool operator==(const Fragment&, const Fragment&) = default;
};

// Returns the fragment of an operand of an atom of warps. `operand`: (thread, value) ->
// column-major index in a tile of `shape` (outer, k), of which shared memory has rows along k or
// along the outer index. By the first of the copies that gives each lane its values. Refuses
// threads whose warps have no layout of their own.
Fragment fragment_from(const Layout& operand, std::array<int, 2> shape, bool along_k,
                       int element_bits, std::span<const sema::CopyInstruction> copies);

// Lets one read bring as many values as lie side by side in rows of shared memory for every lane,
// of 16 bytes at most: of bytes along k two for m16n8k16. Where a copy reads them, nothing.
void read_together(Fragment& fragment, int element_bits);

// The worst read of a warp where a tile of that extent along (outer, k) lies as `shared` says.
// Atoms have `outer` of the outer index each, and begin at these elements of k.
Wavefront worst_read(const Fragment& fragment, const AnyLayout& shared, std::array<int, 2> tile,
                     int outer, std::span<const int> steps, int element_bits);

// Where atoms that lie side by side along k begin.
std::vector<int> steps_side_by_side(int tile, int atom);

}  // namespace lay::plan
