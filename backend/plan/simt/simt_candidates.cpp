// The candidates of the SIMT family: tiles of 32 to 256 a side, and the groups of warps that leave
// 32, 64 or 128 accumulators to a thread; each with two stages, and as a ring where whole
// warpgroups multiply.
#include "backend/plan/schedule/candidates.h"

namespace lay::plan {
namespace {

template <class... Numbers>
sema::ScheduleEntry entry(const sema::Kernel& kernel, std::string key, Numbers... numbers) {
  return {std::move(key), "", tuple(numbers...), kernel.where};
}

}  // namespace

std::vector<sema::Schedule> simt_proposals(const sema::Kernel& kernel, const GemmForm&) {
  std::vector<sema::Schedule> schedules;
  constexpr int sides[] = {32, 64, 128, 256}, depths[] = {8, 16};
  constexpr int warps_of_warpgroup = 4, ring_depth = 64;  // along k, as in the library's policies
  constexpr int lane_rows = 16,
                lane_columns = 32;  // of a warp's 4 x 8 lanes with 4 x 4 elements each
  for (const int m : sides)
    for (const int n : sides)
      for (const int k : depths)
        for (int rows = 1; rows * lane_rows <= m && rows <= 8; rows *= 2)
          for (int columns = 1; columns * lane_columns <= n && columns <= 8; columns *= 2) {
            // Fewer than 32 accumulators reuse too little of what is read, more than 128 leave no
            // registers.
            const int held = m * n / (32 * rows * columns);
            if (rows * columns > 16 || held < 32 || held > 128) continue;
            sema::Schedule schedule{"simt", {}, {}, kernel.where};
            schedule.entries.push_back(entry(kernel, "tile", m, n, k));
            schedule.entries.push_back(entry(kernel, "groups", rows, columns, 1, 1));
            schedule.entries.push_back(entry(kernel, "lane_tile", 4, 4, 1));
            schedules.push_back(schedule);
            if (rows * columns % warps_of_warpgroup != 0) continue;
            schedule.entries.push_back({"stages", "", Tuple(ring_depth / k), kernel.where});
            schedules.push_back(std::move(schedule));
          }
  return schedules;
}

}  // namespace lay::plan
