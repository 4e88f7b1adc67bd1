#include "frontend/algebra/claims/axes.h"

#include <algorithm>
#include <numeric>

#include "frontend/algebra/layouts/mode.h"

namespace lay {
namespace {

// Fewer conditions first; of equals, those that ask no symbol to stay below a known stride.
// A condition on symbols alone (M <= ldc) is one that a script is likely to assume; a bound by a
// number (M <= 8) rules sizes out.
size_t cost(const std::vector<Predicate>& open) {
  size_t sum = 1000 * open.size();
  for (const Predicate& p : open) sum += p.node().b.is_literal();
  return sum;
}

// Returns the conditions that the order leaves to prove; nothing if one of them never holds.
std::optional<std::vector<Predicate>> open_conditions(const Facts& facts,
                                                      const std::vector<SymbolicMode>& modes,
                                                      const std::vector<size_t>& order, Int reach,
                                                      const Step& step) {
  std::vector<Predicate> open;
  for (const size_t k : order) {
    const Predicate condition = step(reach, modes[k]);
    if (!facts.proves(condition)) {
      if (condition.is_never() || facts.proves(negate(condition))) return std::nullopt;
      open.push_back(condition);
    }
    reach += (modes[k].extent - 1) * modes[k].stride;
  }
  return open;
}

}  // namespace

std::vector<SymbolicAxis> axes_of(const Layout& a) {
  std::vector<SymbolicAxis> axes;
  std::vector<Mode> modes = flat_modes(a);
  // From the last mode on: of equal strides the outer mode usually is the one whose condition has a
  // meaning for a user, and `by_stride` keeps the order of equals.
  std::reverse(modes.begin(), modes.end());
  for (const Mode& mode : modes) {
    // A mode of one coordinate adds nothing to any value.
    if (mode.extent.is(1)) continue;
    const std::vector<int>& path = mode.stride.path();
    auto at = std::find_if(axes.begin(), axes.end(),
                           [&](const SymbolicAxis& x) { return x.path == path; });
    if (at == axes.end()) at = axes.insert(axes.end(), {path, {}});
    at->modes.push_back({mode.extent, mode.stride.value()});
  }
  return axes;
}

std::vector<SymbolicAxis> axes_without_signs(Facts& facts, const Layout& a) {
  std::vector<SymbolicAxis> axes = axes_of(a);
  for (SymbolicAxis& axis : axes) {
    // Mirroring a mode, c -> extent-1-c, turns a stride of -d into d and moves all values by a
    // constant. So it changes neither what is repeated nor how far values reach.
    for (SymbolicMode& mode : axis.modes) mode.stride = facts.max(mode.stride, -mode.stride);
  }
  return axes;
}

std::optional<std::vector<Predicate>> fewest_open(const Facts& facts,
                                                  const std::vector<SymbolicMode>& modes,
                                                  const Int& reach, const Step& step) {
  std::vector<Mode> by_size;
  for (const SymbolicMode& mode : modes) by_size.push_back({mode.extent, mode.stride});
  // The ascending order is right wherever strides are comparable. Permutations are for symbols
  // whose order the facts leave open: each order is a different set of conditions, and any one set
  // is enough.
  std::vector<SymbolicMode> ascending;  // as far as their order is known
  for (const size_t k : by_stride(facts, by_size)) ascending.push_back(modes[k]);
  std::vector<size_t> order(modes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::optional<std::vector<Predicate>> best;
  int tried = 0;
  do {
    auto open = open_conditions(facts, ascending, order, reach, step);
    if (open && (!best || cost(*open) < cost(*best))) best = std::move(open);
    if (best && best->empty()) break;
    // 120 = 5!: five modes along one axis are tried in all orders.
  } while (++tried < 120 && std::next_permutation(order.begin(), order.end()));
  return best;
}

Reach reach_of(Facts& facts, const SymbolicAxis& axis) {
  Reach reach{0, 0};
  for (const SymbolicMode& mode : axis.modes) {
    // A mode of extent n and stride d adds 0, d, ..., (n-1)*d: below 0 where d < 0, above where d >
    // 0.
    reach.low += (mode.extent - 1) * facts.min(mode.stride, 0);
    reach.high += (mode.extent - 1) * facts.max(mode.stride, 0);
  }
  return reach;
}

}  // namespace lay
