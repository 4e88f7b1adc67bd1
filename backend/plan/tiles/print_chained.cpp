#include "backend/plan/tiles/print_chained.h"

#include <algorithm>

#include "backend/plan/text.h"

namespace lay::plan {

void chained_lines(const tile::Program& program, std::vector<std::string>& lines) {
  const tile::Axis &rows = program.axis(tile::row_axis), &columns = program.axis(tile::column_axis);
  lines.push_back(entry("tile", tuple_text(std::vector{rows.tile, columns.tile})));
  int stages = 1;
  for (const tile::Tile& each : program.tiles)
    if (each.shared) stages = std::max(stages, each.shared->stages);
  lines.push_back(entry("stages", std::to_string(stages)));
  const int consumers = program.warpgroups->consumers;
  lines.push_back("  // rows " + rows.name + " by " + std::to_string(consumers) +
                  (consumers == 1 ? " warpgroup" : " warpgroups") + ", columns " + columns.name +
                  " one tile after the other");
  tile::for_each(program.body, [&](const tile::Stmt& stmt) {
    if (const auto* mma = std::get_if<tile::Mma>(&stmt.node))
      lines.push_back("  // " + program.tile(mma->out).name + " by " + mma->atom->name);
  });
  for (const tile::Tile& each : program.tiles)
    if (each.shared)
      lines.push_back("  // " + program.kernel->loaded(each.value).name +
                      " in shared memory, by TMA: " + to_string(each.shared->layout));
}

}  // namespace lay::plan
