#include "backend/plan/tiles/tile_schedule.h"

#include "backend/plan/schedule/entries.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::plan {

namespace {

constexpr std::int64_t most_parts = 65535;  // blocks along y of a grid
constexpr std::int64_t most_stages = 8;

// An entry of another family, or a misspelled one: the list and the nearest name are the cure.
void unknown_entry(const sema::ScheduleEntry& entry, std::vector<Problem>& problems) {
  std::vector<std::pair<std::string, std::string>> notes;
  if (const auto meant = meant_entry(entry.key, "reduction"))
    notes.emplace_back("help", "did you mean " + *meant + "?");
  std::string list;
  for (const EntryRow* row : entries_of("reduction"))
    list += (list.empty() ? "" : ", ") + std::string(row->name);
  notes.emplace_back("help", "its entries are " + list + "; `lay help NAME` tells what each takes");
  problems.push_back({"schedule-entry",
                      "a schedule of a reduction has no entry `" + entry.key + "`",
                      entry.where,
                      {},
                      std::move(notes),
                      {}});
}

// Nothing for anything but an integer in the range.
std::optional<int> number(const sema::ScheduleEntry& entry, std::int64_t least, std::int64_t most) {
  const auto* value = std::get_if<Tuple>(&entry.value);
  const bool is_number = value && value->is_int() && value->value().is_literal();
  if (!is_number) return std::nullopt;
  const std::int64_t found = value->value().value();
  return least <= found && found <= most ? std::optional(static_cast<int>(found)) : std::nullopt;
}

}  // namespace

tile::Distribution distribution_of(const Layout& threads) {
  // The first mode of the values is what one access moves, if it walks neighbours: in
  // (8,4):(1@1,1024@1) the 8 columns from 1@1.
  const Tuple extent = leaves(threads.shape[1]).front(), step = leaves(threads.stride[1]).front();
  const bool side_by_side = step.is_basis() && step.value().is(1);
  return {threads, side_by_side ? static_cast<int>(extent.value().value()) : 1};
}

TileSchedule read_tile_schedule(const sema::Schedule& schedule, const Target& target,
                                std::vector<Problem>& problems) {
  TileSchedule result;
  result.when = schedule.when;
  result.where = schedule.where;
  result.of_script = true;
  result.cost = cost_of(schedule, problems);
  for (const sema::ScheduleEntry& entry : schedule.entries) {
    const auto wants = [&](const char* code, const std::string& what) {
      problems.push_back({code, "`" + entry.key + "` takes " + what, entry.where, {}, {}, {}});
    };
    result.entries[entry.key] = entry.where;
    if (read_common_entry(entry, result, problems)) continue;
    // bind() checks that the tile suits the kernel's rows; here only what holds for all kernels.
    if (entry.key == "threads") {
      const auto* layout = std::get_if<Layout>(&entry.value);
      // (thread, value), or (thread, value, block) where the blocks of a cluster share rows.
      const bool pair =
          layout && layout->is_known() && (layout->rank() == 2 || layout->rank() == 3);
      const auto fault =
          pair ? tile::fault_of(distribution_of(*layout), target.block_threads, target.cluster)
               : std::optional<std::string>("expected (thread, value) -> (row, column)");
      if (fault) {
        wants("schedule-threads", "a thread-value layout of the tile: " + *fault);
      } else {
        result.threads = *layout;
      }
    } else if (entry.key == "columns") {
      // Texts reach the planner with their quotes.
      const auto* text = std::get_if<std::string>(&entry.value);
      if (text && *text == "\"kept\"") {
        result.columns = tile::Columns::kept;
      } else if (text && *text == "\"streamed\"") {
        result.columns = tile::Columns::streamed;
      } else {
        wants("schedule-entry", "\"kept\" or \"streamed\"");
      }
    } else if (entry.key == "parts") {
      result.parts = number(entry, 2, most_parts);
      if (!result.parts)
        wants("schedule-entry", "an integer from 2 to " + std::to_string(most_parts));
    } else if (entry.key == "stages") {
      result.stages = number(entry, 0, most_stages);
      if (!result.stages)
        wants("schedule-entry", "an integer from 0 to " + std::to_string(most_stages));
    } else {
      unknown_entry(entry, problems);
    }
  }
  return result;
}

}  // namespace lay::plan
