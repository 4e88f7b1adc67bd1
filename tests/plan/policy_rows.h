// What tests ask of the rows of stdlib/policies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/sema/library.h"

namespace lay::test {

// Integers of a row's entry: a tile, a cluster, or one number; none where it has no such entry.
inline std::vector<std::int64_t> numbers(const sema::Policy& row, const std::string& key) {
  std::vector<std::int64_t> result;
  for (const sema::ScheduleEntry& entry : row.entries) {
    if (entry.key != key) continue;
    const Tuple& value = std::get<Tuple>(entry.value);
    for (int i = 0; i < value.rank(); ++i) result.push_back(value[i].value().value());
  }
  return result;
}

// The row's cost at these sizes; none where it stands in no portfolio.
inline std::optional<Int> cost_under(const sema::Policy& row, const sema::ProblemSize& size) {
  for (const sema::ScheduleEntry& entry : row.entries)
    if (entry.key == "cost") return sema::under(std::get<Tuple>(entry.value).value(), size);
  return std::nullopt;
}

}  // namespace lay::test
