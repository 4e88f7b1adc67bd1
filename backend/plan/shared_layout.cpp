#include "backend/plan/shared_layout.h"

#include <algorithm>
#include <numeric>

#include "backend/plan/text.h"
#include "frontend/algebra/layouts/inner_layout.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {
namespace {

// The coordinate of that index in the tile, the first mode fastest.
std::string element(const std::vector<int>& tile, std::size_t index) {
  std::vector<int> at;
  for (const int extent : tile) {
    at.push_back(static_cast<int>(index % static_cast<std::size_t>(extent)));
    index /= static_cast<std::size_t>(extent);
  }
  return tuple_text(at);
}

}  // namespace

std::optional<std::string> shared_fault(const std::vector<int>& tile, const AnyLayout& asked) {
  const Layout* inner = inner_layout(asked);
  // The layout has the tile's modes, each with the tile's extent, whatever their nesting.
  bool fits = inner && inner->is_known() && !inner->has_basis() &&
              inner->rank() == static_cast<int>(tile.size());
  for (std::size_t axis = 0; fits && axis < tile.size(); ++axis)
    fits = size((*inner)[static_cast<int>(axis)]).is(tile[axis]);
  if (!fits) return "is not one of the tile " + tuple_text(tile);
  const auto offsets = values(asked);
  // Sorted by offset, equal ones in the order of elements: the witness is the first pair that
  // shares a place.
  std::vector<std::size_t> by_offset(offsets.size());
  std::iota(by_offset.begin(), by_offset.end(), std::size_t{0});
  std::stable_sort(by_offset.begin(), by_offset.end(),
                   [&](std::size_t i, std::size_t j) { return offsets[i] < offsets[j]; });
  const std::size_t least = by_offset.front();
  if (offsets[least] < 0) return "has a place before its beginning, for " + element(tile, least);
  const auto twice =
      std::adjacent_find(by_offset.begin(), by_offset.end(),
                         [&](std::size_t i, std::size_t j) { return offsets[i] == offsets[j]; });
  if (twice == by_offset.end()) return std::nullopt;
  return "gives two elements one place, " + element(tile, *twice) + " and " +
         element(tile, *std::next(twice));
}

}  // namespace lay::plan
