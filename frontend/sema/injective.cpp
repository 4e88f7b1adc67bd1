#include "frontend/sema/injective.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "frontend/algebra/operations.h"

namespace lay::sema {
namespace {

struct Mode {
  Int extent, stride;
};

std::vector<Mode> modes_of(const Layout& layout) {
  std::vector<Tuple> extents = leaves(layout.shape), strides = leaves(layout.stride);
  std::vector<Mode> modes;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (!extents[i].is_literal(1)) modes.push_back({extents[i].value(), strides[i].value()});
  }
  std::reverse(modes.begin(), modes.end());  // row-major first: it is the commonest
  return modes;
}

// What the order leaves to show; nothing if it is refuted.
std::optional<std::vector<Predicate>> conditions_of(const Facts& facts, const std::vector<Mode>& modes,
                                                    const std::vector<std::size_t>& order) {
  std::vector<Predicate> open;
  Int reach = 0;
  for (std::size_t k : order) {
    Predicate wider = less_equal(reach + 1, modes[k].stride);
    if (!facts.proves(wider)) {
      if (wider.is_never() || facts.proves(negate(wider))) return std::nullopt;
      open.push_back(wider);
    }
    reach += (modes[k].extent - 1) * modes[k].stride;
  }
  return open;
}

Injectivity by_values(const Layout& layout) {
  std::vector<std::int64_t> all = values(AnyLayout(layout));
  std::sort(all.begin(), all.end());
  bool twice = std::adjacent_find(all.begin(), all.end()) != all.end();
  return {twice ? Verdict::refuted : Verdict::proved, {}};
}

}  // namespace

Injectivity injectivity(Facts& facts, const Layout& layout) {
  std::vector<Mode> modes = modes_of(layout);
  std::vector<std::size_t> order(modes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (layout.is_known()) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t j) { return modes[i].stride.value() < modes[j].stride.value(); });
    if (conditions_of(facts, modes, order)) return {Verdict::proved, {}};
    Int n = size(layout);
    if (n.value() <= (std::int64_t{1} << 20)) return by_values(layout);
    return {Verdict::undecided, {Predicate(false)}};
  }
  std::optional<std::vector<Predicate>> best;
  int tried = 0;
  do {
    auto open = conditions_of(facts, modes, order);
    if (open && (!best || open->size() < best->size())) best = std::move(open);
    if (best && best->empty()) return {Verdict::proved, {}};
  } while (++tried < 120 && std::next_permutation(order.begin(), order.end()));
  if (!best) return {Verdict::refuted, {}};
  return {Verdict::undecided, std::move(*best)};
}

}  // namespace lay::sema
