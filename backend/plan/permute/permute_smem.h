// The tile of one input in shared memory: how it is loaded, its layout, and what the banks make
// of it.
#pragma once

#include <optional>
#include <string>

#include "backend/plan/permute/permute_form.h"
#include "backend/plan/plan.h"
#include "backend/tile/elementwise/elementwise.h"

namespace lay::plan {

struct Staging {
  tile::StagedLoad how;
  BankConflicts write, read;
  std::int64_t wavefronts = 0;  // of a tile, both ways
};

// The extents of what one input has of a tile: 1 for indices that it does not depend on.
std::vector<int> staged_tile(const std::vector<int>& tile, const AffineAccess& way);

// Of the binding, the tile and the threads of the outputs and of a block are known. `asked` is a
// layout that fits (shared_fault), or nothing: then the layout and the number of threads side by
// side that meet the fewest conflicts; of equals the plainest. Written element by element, read as
// wide as it lies.
Staging stage(const tile::Elementwise& program, const AffineAccess& way, int vector,
              ElementType element, const std::optional<AnyLayout>& asked);

// Packed, the outputs' run fastest.
Layout packed_tile(const std::vector<int>& tile, const AffineAccess& way, int run_axis);

}  // namespace lay::plan
