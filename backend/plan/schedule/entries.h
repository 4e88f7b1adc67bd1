// The entries that a schedule may have: one table for the planner's messages, the help pages and
// docs/schedules.md.
//
//   for (const EntryRow* row : entries_of("sm90")) ...   tile, mma, groups, cluster, ...
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lay::plan {

// One entry for one kind of schedule, or for several where it is the same.
struct EntryRow {
  std::string_view name;      // "tile"
  std::string_view families;  // "simt sm80 sm90"; "permute" is a kernel that only moves elements
  std::string_view meaning;   // "the tile of the product that a block computes: M, N, K"
  std::string_view range;     // "three integers from 1 to 4096"
  std::string_view example;   // "tile = (128,128,64)"

  bool is_for(std::string_view family) const;
};

std::span<const EntryRow> entry_rows();

// Returns the rows of a family in the order of the table.
std::vector<const EntryRow*> entries_of(std::string_view family);

// Returns the row of an entry in a family; nothing if the family has no such entry.
const EntryRow* find_entry(std::string_view name, std::string_view family);

// Returns the names of all entries, each once.
std::vector<std::string> entry_names();

// Returns the entries that another name stands for: what an entry was called before, as "swapped"
// for `swap_ab`, or what other tools call it, as "num_stages". Empty for any other name.
std::vector<std::string_view> entries_called(std::string_view synonym);

// Returns the entry that was probably meant by an unknown name: the one that it is a synonym of, or
// the nearest name of the family. Nothing if no name is near.
std::optional<std::string> meant_entry(std::string_view name, std::string_view family);

}  // namespace lay::plan
