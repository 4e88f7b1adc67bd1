#include "backend/plan/schedule/policy.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <tuple>

namespace lay::plan {

namespace {
// Measured on an H200 against cuBLAS at 512^3 to 4096^3: 16x8 accumulators a thread with one
// block an SM beat 8x8 with two by 5 %, which beat 8x4 with four by 10 %. On smaller outputs it
// matters that every SM has its blocks. K tiles of 16 win with small tiles (0.98 instead of
// 0.75 of cuBLAS at 1000^3). With large ones they win 2 % where nothing is transposed on the way
// (0.96 instead of 0.94 at 4096^3) and lose elsewhere; their kernels take half a second to
// compile instead of a third, so all large tiles have 8. A K tile of `ring_wide` has 93
// instructions of a copying warp where it transposes the 256 rows of B, and 61 where it
// transposes the 128 of A.
constexpr SimtPolicy policies[] = {
    {"ring_wide", ElementType::f32, {128, 256, 8}, {2, 4, 1, 1}, {4, 4, 1}, 8, 3, 8},
    {"ring_tall", ElementType::f32, {256, 128, 8}, {4, 2, 1, 1}, {4, 4, 1}, 8, 3, 8},
    {"wide", ElementType::f32, {128, 256, 8}, {2, 4, 1, 1}, {4, 4, 1}, 8, 3},
    {"tall", ElementType::f32, {256, 128, 8}, {4, 2, 1, 1}, {4, 4, 1}, 8, 3},
    {"small", ElementType::f32, {64, 64, 16}, {2, 2, 1, 1}, {4, 4, 1}, 16, 0},
    {"small", ElementType::f64, {64, 64, 8}, {2, 2, 1, 1}, {4, 4, 1}, 8, 0},
};
}  // namespace

std::vector<SimtPolicy> simt_policies(ElementType accumulator, std::array<bool, 2> transposed) {
  std::vector<SimtPolicy> rows;
  std::copy_if(std::begin(policies), std::end(policies), std::back_inserter(rows),
               [&](const SimtPolicy& row) { return row.accumulator == accumulator; });
  const auto rings =
      std::find_if(rows.begin(), rows.end(), [](const SimtPolicy& row) { return row.stages <= 2; });
  // A ring transposes a K-major operand through registers: the row whose tile is smaller on that
  // side transposes less, and comes first.
  if (const auto [a, b] = transposed; a != b) {
    const std::size_t side = a ? 0 : 1;
    std::stable_sort(rows.begin(), rings, [&](const SimtPolicy& x, const SimtPolicy& y) {
      return x.tile[side] < y.tile[side];
    });
  }
  return rows;
}

std::optional<std::array<int, 4>> groups_for(const std::array<int, 3>& tile,
                                             const std::array<int, 2>& lane_grid,
                                             const std::array<int, 3>& lane_tile) {
  const int rows = lane_grid[0] * lane_tile[0], columns = lane_grid[1] * lane_tile[1];
  if (tile[0] % rows != 0 || tile[1] % columns != 0) return std::nullopt;
  const int m = tile[0] / rows, n = tile[1] / columns;
  std::optional<std::array<int, 4>> best;
  std::tuple<int, int> best_cost;
  for (int gm = 1; gm <= m; ++gm) {
    for (int gn = 1; gn <= n && gm * gn <= 32; ++gn) {
      if (m % gm != 0 || n % gn != 0) continue;
      const int held = (tile[0] / gm) * (tile[1] / gn) / 32;
      // Beside 128 accumulators a thread has registers for fragments, copies and addresses.
      if (held > 128) continue;
      const std::tuple cost{std::abs(held - 64), std::abs(tile[0] / gm - tile[1] / gn)};
      if (!best || cost < best_cost) {
        best = {gm, gn, 1, 1};
        best_cost = cost;
      }
    }
  }
  return best;
}

}  // namespace lay::plan
