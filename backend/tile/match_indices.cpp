#include "backend/tile/match_indices.h"

#include <algorithm>
#include <set>
#include <utility>

#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

using sema::IndexId;

namespace {

// The modes of tensors that each index walks.
using Modes = std::map<IndexId, std::set<std::pair<sema::TensorId, std::size_t>>>;

Modes modes_of(const sema::Kernel& kernel) {
  Modes modes;
  for (const sema::Node& node : kernel.nodes) {
    const auto* load = std::get_if<sema::Load>(&node.what);
    for (std::size_t i = 0; load && i < load->coordinate.size(); ++i)
      modes[sema::bare_index(kernel, load->coordinate[i])].emplace(load->tensor, i);
  }
  return modes;
}

bool meet(const Modes& modes, IndexId a, IndexId b) {
  const auto of_a = modes.find(a), of_b = modes.find(b);
  if (of_a == modes.end() || of_b == modes.end()) return false;
  return std::any_of(of_a->second.begin(), of_a->second.end(),
                     [&](const auto& mode) { return of_b->second.contains(mode); });
}

}  // namespace

bool match_indices(const sema::Kernel& kernel, const Facts& facts, const std::vector<IndexId>& from,
                   const std::vector<IndexId>& into, std::map<IndexId, IndexId>& to) {
  if (from.size() != into.size()) return false;
  const Modes modes = modes_of(kernel);
  std::set<IndexId> taken;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto known = to.find(from[i]);
    int best = -1;
    IndexId chosen = -1;
    for (std::size_t j = 0; j < into.size(); ++j) {
      if (taken.contains(into[j]) || (known != to.end() && known->second != into[j])) continue;
      const Int &a = kernel.index(from[i]).extent, &b = kernel.index(into[j]).extent;
      if (!(a == b) && !facts.proves(equal(a, b))) continue;
      const int liking = from[i] == into[j] ? 3 : meet(modes, from[i], into[j]) ? 2 : i == j;
      if (liking <= best) continue;
      best = liking;
      chosen = into[j];
    }
    if (chosen < 0) return false;
    taken.insert(chosen);
    if (chosen != from[i]) to[from[i]] = chosen;
  }
  return true;
}

}  // namespace lay::tile
