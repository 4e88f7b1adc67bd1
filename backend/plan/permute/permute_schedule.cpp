#include "backend/plan/permute/permute_schedule.h"

#include <algorithm>

#include "backend/plan/schedule/entries.h"
#include "backend/plan/schedule/schedule.h"

namespace lay::plan {

namespace {

constexpr std::int64_t largest = 4096;

// A positive number that is known and no larger than any tile; nothing for what is none.
std::optional<int> number(const Tuple& leaf) {
  if (!leaf.is_int() || !leaf.value().is_literal()) return std::nullopt;
  const std::int64_t value = leaf.value().value();
  if (value < 1 || value > largest) return std::nullopt;
  return static_cast<int>(value);
}

// One number an index; a bare number where there is one.
std::optional<std::vector<int>> tile_of(const sema::ScheduleEntry& entry, std::size_t indices) {
  const auto* value = std::get_if<Tuple>(&entry.value);
  if (!value) return std::nullopt;
  // `tile = 256` of a vector is short for (256).
  const std::vector<Tuple> modes = value->is_tuple() ? value->modes() : std::vector<Tuple>{*value};
  std::vector<int> result;
  for (const Tuple& mode : modes) {
    const auto extent = number(mode);
    if (!extent) return std::nullopt;
    result.push_back(*extent);
  }
  return result.size() == indices ? std::optional(result) : std::nullopt;
}

// "elements" is 0 bytes: each access moves one element, whatever its size.
std::optional<int> access_bytes_of(const sema::ScheduleEntry& entry) {
  if (const auto* text = std::get_if<std::string>(&entry.value))
    return *text == "\"elements\"" ? std::optional(0) : std::nullopt;
  const auto* value = std::get_if<Tuple>(&entry.value);
  const auto bytes = value ? number(*value) : std::nullopt;
  const bool known = bytes && std::find(std::begin(permute_widths), std::end(permute_widths),
                                        *bytes) != std::end(permute_widths);
  return known ? bytes : std::nullopt;
}

// Adds the problem of an entry that permutations do not have, with the nearest that they have.
void unknown_entry(const sema::ScheduleEntry& entry, std::vector<Problem>& problems) {
  std::vector<std::pair<std::string, std::string>> notes;
  if (const auto meant = meant_entry(entry.key, "permute"))
    notes.emplace_back("help", "did you mean " + *meant + "?");
  std::string list;
  for (const EntryRow* row : entries_of("permute"))
    list += (list.empty() ? "" : ", ") + std::string(row->name);
  notes.emplace_back("help", "its entries are " + list + "; `lay help NAME` tells what each takes");
  problems.push_back({"schedule-entry",
                      "a schedule of a permutation has no entry `" + entry.key + "`",
                      entry.where,
                      {},
                      std::move(notes),
                      {}});
}

}  // namespace

PermuteSchedule read_permute_schedule(const sema::Schedule& schedule, const sema::Kernel& kernel,
                                      std::vector<Problem>& problems) {
  PermuteSchedule result;
  result.when = schedule.when;
  result.where = schedule.where;
  result.of_script = true;
  result.cost = cost_of(schedule, problems);
  const std::size_t indices = kernel.assignments[0].indices.size();
  for (const sema::ScheduleEntry& entry : schedule.entries) {
    const auto wants = [&](const std::string& what) {
      problems.push_back(
          {"schedule-entry", "`" + entry.key + "` takes " + what, entry.where, {}, {}, {}});
    };
    result.entries[entry.argument.empty() ? entry.key : entry.key + " " + entry.argument] =
        entry.where;
    if (entry.key == "name") {
      result.name = name_of(entry, problems).value_or("");
    } else if (is_of_cost(entry)) {
      continue;
    } else if (entry.key == "accesses") {
      result.access_bytes = access_bytes_of(entry);
      if (!result.access_bytes)
        wants("the bytes of the widest access, 16, 8 or 4, or \"elements\"");
    } else if (entry.key == "tile") {
      result.tile = tile_of(entry, indices);
      if (!result.tile)
        wants(std::to_string(indices) + " positive numbers: one for each index of the output");
    } else if (entry.key == "threads") {
      const auto* value = std::get_if<Tuple>(&entry.value);
      result.threads = value ? number(*value) : std::nullopt;
      if (!result.threads || *result.threads % 32 != 0)
        wants("the threads of a block, a multiple of 32");
    } else if (entry.key == "smem") {
      if (const auto* plain = std::get_if<Layout>(&entry.value)) {
        // By the tensor's name: the planner knows which inputs are staged.
        result.shared.emplace(entry.argument, *plain);
      } else if (const auto* composed = std::get_if<Composed>(&entry.value)) {
        result.shared.emplace(entry.argument, *composed);
      } else {
        wants("a layout: coordinate in the tile -> offset in elements");
      }
    } else if (entry.key == "rasterization") {
      if (const auto* plain = std::get_if<Layout>(&entry.value)) {
        result.order = *plain;
      } else {
        wants("a layout: block -> coordinate of the tile");
      }
    } else {
      unknown_entry(entry, problems);
    }
  }
  return result;
}

}  // namespace lay::plan
