// The shape of a SIMT GEMM: which thread holds which accumulator, and which block has which tile.
#pragma once

#include <optional>
#include <vector>

#include "backend/plan/plan.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/schedule.h"
#include "backend/plan/simt/simt_gemm.h"
#include "backend/target/target.h"

namespace lay::plan {

// Tile, groups, lanes, lane tile and order, from the schedule where it says them, and checked: the
// accumulators of the threads cover the tile exactly once. Problems: "schedule-lanes",
// "schedule-cover", "schedule-threads", "schedule-rasterization", "unsupported".
std::optional<SimtGemm> shape_gemm(const sema::Kernel& kernel, const GemmForm& form,
                                   const SimtSchedule& schedule, const Target& target,
                                   std::vector<Problem>& problems);

// (thread, value) -> (m, n), by construction: groups of warps, lanes, lane tiles repeated.
Layout accumulator_layout(const std::array<int, 3>& tile, const std::array<int, 4>& groups,
                          const Layout& lanes, const std::array<int, 2>& lane_grid,
                          const std::array<int, 3>& lane_tile);

// Extents of the lane grid: the bounding rectangle of the lanes' coordinates.
std::array<int, 2> lane_grid_of(const Layout& lanes);

// Where a map onto a rectangle fails to be one-to-one: an element that nobody has, that two have,
// or that lies outside.
struct CoverFault {
  enum Kind { missing, twice, outside } kind;
  std::array<std::int64_t, 2> element;
  std::int64_t index = -1, other = -1;  // the 1-D indices that have it
};
// The first fault by index of the layout, else the first missing element; nothing where the cover
// is exact.
std::optional<CoverFault> cover_fault(const Layout& onto,
                                      const std::array<std::int64_t, 2>& extents);

}  // namespace lay::plan
