#include "backend/tile/products/layout_questions.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "frontend/algebra/claims/propositions.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/memo.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::tile {

Places places_of(const AnyLayout& layout) {
  static Memo<std::string, Places> known;
  return known(to_string(layout), [&] {
    const auto offsets = values(layout);
    const auto [least, most] = std::minmax_element(offsets.begin(), offsets.end());
    Places made{offsets.size(), *least, *most};
    std::vector<char> taken(static_cast<std::size_t>(*most - *least) + 1, 0);
    for (const std::int64_t offset : offsets)
      if (taken[static_cast<std::size_t>(offset - *least)]++) made.once = false;
    return made;
  });
}

bool is_cover(const Layout& layout, const Tuple& extents) {
  static Memo<std::string, bool> known;
  return known(layout.to_string() + extents.to_string(), [&] {
    Facts facts;
    return covers(facts, layout, extents).verdict == Verdict::proved;
  });
}

bool begins_as(const Layout& numbers, const sema::Atom& atom, int threads) {
  static Memo<std::string, bool> known;
  return known(numbers.to_string() + atom.c.to_string(), [&] {
    const auto all = values(numbers), of_atom = values(atom.c);
    const auto count = static_cast<std::size_t>(atom.count());
    if (static_cast<std::size_t>(threads) < count) return false;
    for (std::size_t i = 0; i < of_atom.size(); ++i) {
      const std::size_t at = i % count + i / count * static_cast<std::size_t>(threads);
      if (at >= all.size() || all[at] != of_atom[i]) return false;
    }
    return true;
  });
}

namespace {

bool holds_each(const Layout& layout, int elements, const sema::Atom& atom, int side,
                std::array<int, 2> axes, int slices) {
  constexpr std::size_t lanes = 32;
  const Layout& operand = side == 0 ? atom.a : atom.b;
  const auto of_atom = values(operand);  // lane the fastest
  const int rows = atom.shape[static_cast<std::size_t>(side)];
  const std::size_t held = of_atom.size() / lanes;
  const auto row_of = [&](std::size_t lane, std::size_t value) {
    return of_atom[lane + lanes * value] % rows;
  };
  const auto k_of = [&](std::size_t lane, std::size_t value) {
    return of_atom[lane + lanes * value] / rows;
  };
  // Neighbours along k: the first values of lane 0.
  std::size_t together = 1;
  while (together < held && row_of(0, together) == row_of(0, 0) &&
         k_of(0, together) == k_of(0, 0) + static_cast<std::int64_t>(together))
    ++together;
  const std::size_t rows_of_lane = held / together, run = static_cast<std::size_t>(elements);
  if (operand.shape[0].rank() < 1 || held % together != 0 || run % together != 0) return false;
  const auto outer = values(along(layout, axes[0])), k = values(along(layout, axes[1]));
  const auto threads = static_cast<std::size_t>(size(layout.shape[0]).value()),
             accesses = static_cast<std::size_t>(size(layout.shape[1][1]).value());
  const auto extent = [](const std::vector<std::int64_t>& all) {
    return *std::max_element(all.begin(), all.end()) + 1;
  };
  if (threads % (lanes * static_cast<std::size_t>(slices)) != 0) return false;
  const std::size_t groups = threads / lanes / static_cast<std::size_t>(slices);
  const std::int64_t part = extent(outer) / static_cast<std::int64_t>(groups),
                     part_k = extent(k) / slices;
  const auto instructions = static_cast<std::size_t>(part / rows);
  if (instructions == 0 || accesses % (rows_of_lane * instructions) != 0) return false;
  // (slice, access along k, step of the run, k of the instruction) -> k of the tile.
  std::map<std::array<std::size_t, 4>, std::int64_t> taken;
  for (std::size_t i = 0; i < outer.size(); ++i) {
    const std::size_t thread = i % threads, lane = thread % lanes, warp = thread / lanes,
                      element = i / threads % run, access = i / threads / run;
    const std::size_t value = element % together + access % rows_of_lane * together,
                      instruction = access / rows_of_lane % instructions;
    if (outer[i] != static_cast<std::int64_t>(warp % groups) * part +
                        static_cast<std::int64_t>(instruction) * rows + row_of(lane, value) ||
        k[i] / part_k != static_cast<std::int64_t>(warp / groups))
      return false;
    const auto [at, is_new] =
        taken.emplace(std::array{warp / groups, access / rows_of_lane / instructions,
                                 element / together, static_cast<std::size_t>(k_of(lane, value))},
                      k[i]);
    if (!is_new && at->second != k[i]) return false;
  }
  return true;
}

}  // namespace

bool holds_operand(const Layout& threads, int elements, const sema::Atom& atom, int side,
                   std::array<int, 2> axes, int slices) {
  static Memo<std::string, bool> known;
  const Layout& operand = side == 0 ? atom.a : atom.b;
  std::string key = threads.to_string() + " " + operand.to_string();
  for (const int number :
       {elements, atom.shape[static_cast<std::size_t>(side)], axes[0], axes[1], slices})
    key += " " + std::to_string(number);
  return known(key, [&] { return holds_each(threads, elements, atom, side, axes, slices); });
}

}  // namespace lay::tile
