// The schedule of a kernel that reduces along rows.
#pragma once

#include <optional>
#include <vector>

#include "backend/plan/schedule/schedule.h"
#include "backend/target/target.h"
#include "backend/tile/bind.h"
#include "backend/tile/form.h"

namespace lay::plan {

struct TileSchedule : ScheduleHead {
  std::optional<Layout> threads;         // (thread, value) -> (row, column)
  std::optional<tile::Columns> columns;  // kept or streamed
  std::optional<int> parts;              // of the columns, which a first launch reduces
  std::optional<int> stages;             // tiles of rows that are on their way; 0: none
};

// Problems: "schedule-entry" (unknown, or not of its form), "schedule-threads" (threads that cannot
// share a tile so).
TileSchedule read_tile_schedule(const sema::Schedule& schedule, const Target& target,
                                std::vector<Problem>& problems);

// Returns the thread-value layout with the elements of an access: its first mode of values where
// that has neighbours.
tile::Distribution distribution_of(const Layout& threads);

}  // namespace lay::plan
