// What the SIMT family proposes: tiles of 32 to 256 a side, and the groups of warps that leave 32, 64 or 128
// accumulators to a thread; each with two stages, and as a ring where whole warpgroups multiply.
#include "backend/plan/candidates.h"
#include "backend/plan/order.h"

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
  constexpr int lane_rows = 16, lane_columns = 32;        // of a warp's 4 x 8 lanes with 4 x 4 elements each
  for (const int m : sides)
    for (const int n : sides)
      for (const int k : depths)
        for (int rows = 1; rows * lane_rows <= m && rows <= 8; rows *= 2)
          for (int columns = 1; columns * lane_columns <= n && columns <= 8; columns *= 2) {
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

// Groups of 4 and 16 rows of tiles instead of 8.
std::vector<sema::Schedule> simt_orders(const sema::Kernel& kernel, const GemmForm& form,
                                        const sema::Schedule& schedule) {
  std::vector<sema::Schedule> schedules;
  if (!form.batch.empty()) return schedules;
  const auto& tile = std::get<Tuple>(schedule.entries.at(0).value);
  const auto m = static_cast<int>(tile[0].value().value()), n = static_cast<int>(tile[1].value().value());
  for (const int rows : {4, 16}) {
    const Layout order(tuple(rows, tiles(kernel, form.n, n), tiles(kernel, form.m, m * rows)),
                       tuple(Tuple::basis(1, {0}), Tuple::basis(1, {1}), Tuple::basis(rows, {0})));
    sema::Schedule made = schedule;
    std::erase_if(made.entries, [](const sema::ScheduleEntry& each) { return each.key == "order"; });
    made.entries.push_back({"order", "", order, kernel.where});
    schedules.push_back(std::move(made));
  }
  return schedules;
}

}  // namespace lay::plan
