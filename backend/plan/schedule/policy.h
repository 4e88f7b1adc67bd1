// Which tiles a GEMM gets that has no schedule: rows of a table, largest tiles first.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "backend/plan/schedule/schedule.h"

namespace lay::plan {

// Taken where the output is at least one tile large and has tiles for at least `quarter_waves`
// quarters of the machine's SMs; the last row of a type for all sizes.
struct SimtPolicy {
  std::string_view name;
  ElementType accumulator;
  std::array<int, 3> tile;
  std::array<int, 4> groups;
  std::array<int, 3> lane_tile;
  int k_outer;  // tile K where both factors are read in vectors along m and n
  int quarter_waves;
  int stages = 2;  // more: a ring, on GPUs that have what it takes
};

// `transposed`: the factors, A and B, that run along k. A ring's producer threads transpose those,
// so that of its tiles the one comes first whose side along the only transposed factor is the
// shorter.
std::vector<SimtPolicy> simt_policies(ElementType accumulator, std::array<bool, 2> transposed);

// Groups for a tile that came without: the arrangement of 1 to 32 warps that covers the tile with
// this lane grid and lane tile, holds at most 128 accumulators a lane and is nearest to 64, and is
// nearest to square. Nothing if none does.
std::optional<std::array<int, 4>> groups_for(const std::array<int, 3>& tile,
                                             const std::array<int, 2>& lane_grid,
                                             const std::array<int, 3>& lane_tile);

}  // namespace lay::plan
