// Checks the layout that a schedule asks for a tile in shared memory: it must hold each of the
// tile's elements once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/plan/plan.h"

namespace lay::plan {

// Why a layout of the script is none for a tile of these extents, with the elements that show it:
// "is not one of the tile (64,8)", "has a place before its beginning, for (1,0)", "gives two
// elements one place, (64,0) and (0,1)".
std::optional<std::string> shared_fault(const std::vector<int>& tile, const AnyLayout& asked);

}  // namespace lay::plan
