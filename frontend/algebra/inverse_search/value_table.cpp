#include "frontend/algebra/inverse_search/value_table.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "frontend/algebra/layouts/mode.h"
#include "frontend/algebra/support/interruption.h"

namespace lay {
namespace {

// Tables of values are made up to 2^20 elements.
bool is_listed(const Layout& a) {
  if (!a.is_known() || a.has_basis()) return false;
  int64_t n = 1;
  for (const Mode& mode : flat_modes(a)) {
    if (__builtin_mul_overflow(n, mode.extent.value(), &n) || n > most_listed) return false;
  }
  return true;
}

struct Pair {
  int64_t at;
  int64_t expected;
};

}  // namespace

std::optional<ValueTable> ValueTable::of(const Layout& a) {
  if (!is_listed(a)) return std::nullopt;
  std::vector<Pair> pairs;
  ValueTable table;
  try {
    int64_t index = 0;
    for (const int64_t value : values(a)) {
      // A layout is its mirror image below 0: R(-v) == -R(v). So a negative value v with index i
      // asks for R(|v|) == -i, and all entries are positive.
      pairs.push_back(value < 0 ? Pair{checked_sub(0, value), -index} : Pair{value, index});
      ++index;
    }
    int64_t place = 1;
    for (const Mode& mode : flat_modes(a)) {
      const int64_t extent = mode.extent.value(), stride = mode.stride.value().value(),
                    step = std::abs(stride);
      if (step != 0 && extent > 1) table.modes_.push_back({extent, stride, place});
      place *= extent;
      if (step == 0 || extent == 1) continue;
      // Strides of a, and where its modes end: the likely places of boundaries.
      table.steps_.push_back(step);
      if (int64_t covered; !__builtin_mul_overflow(step, extent, &covered))
        table.steps_.push_back(covered);
    }
  } catch (const Refusal&) {
    return std::nullopt;
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) {
    return std::pair(x.at, x.expected) < std::pair(y.at, y.expected);
  });
  for (const Pair& pair : pairs) {
    if (pair.at == 0) continue;  // R(0) == 0 is an index that gives 0
    if (table.at_.empty() || table.at_.back() != pair.at) {
      table.at_.push_back(pair.at);
      table.begins_.push_back(table.choices_.size());
    }
    // One value asked for with both signs, as v at i and -v at j: R(v) would be i and -j at once.
    table.mirrored_ |= (table.choices_.size() > table.begins_[table.at_.size() - 1] &&
                        (table.choices_.back() < 0) != (pair.expected < 0));
    table.choices_.push_back(pair.expected);
    table.begins_.back() = table.choices_.size();
  }
  return table;
}

}  // namespace lay
