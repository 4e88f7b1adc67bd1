#include "backend/tile/products/layout_questions.h"

#include <algorithm>
#include <string>
#include <vector>

#include "frontend/algebra/claims/propositions.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/memo.h"

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

}  // namespace lay::tile
