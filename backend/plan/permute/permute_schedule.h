// A schedule of a permute kernel, read: name, accesses, cost, tile, threads, smem of inputs, order.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/plan/plan.h"

namespace lay::plan {

// The widths of the accesses of a permute kernel, in bytes; the last is one element.
inline constexpr int permute_widths[] = {16, 8, 4, 0};

struct PermuteSchedule {
  std::string name;  // of the variants it makes
  std::vector<Predicate> when;
  std::optional<Cost> cost;
  std::optional<std::vector<int>> tile;  // one number an index of the first output
  std::optional<int> threads;
  // `accesses`: bytes of the widest one, 0 for one element; then the schedule is one variant.
  std::optional<int> access_bytes;
  std::map<std::string, AnyLayout> shared;  // by tensor
  std::optional<Layout> order;
  bool of_script = false;
  Span where;
  std::map<std::string, Span> entries;  // where each entry stands: "tile", "smem X"

  Span at(const std::string& entry) const {
    auto found = entries.find(entry);
    return found == entries.end() ? where : found->second;
  }
};

// Problems: "schedule-entry" (unknown, or not of its form).
PermuteSchedule read_permute_schedule(const sema::Schedule& schedule, const sema::Kernel& kernel,
                                      std::vector<Problem>& problems);

}  // namespace lay::plan
