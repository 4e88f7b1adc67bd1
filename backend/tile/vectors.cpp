#include "backend/tile/vectors.h"

#include <algorithm>

#include "frontend/algebra/layouts/operations.h"

namespace lay::tile {

namespace {

// The leaves of a mode, merged where they run on: extent and stride, leaf by leaf.
std::vector<std::pair<Int, Int>> leaves_of(Facts& facts, const Layout& mode) {
  const Layout merged = coalesce(facts, mode);
  const auto extents = leaves(merged.shape), strides = leaves(merged.stride);
  std::vector<std::pair<Int, Int>> result;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (!extents[i].value().is(1)) result.emplace_back(extents[i].value(), strides[i].value());
  }
  return result;
}

}  // namespace

int unit_mode(Facts& facts, const Layout& tensor) {
  int trivial = -1;
  for (int mode = 0; mode < tensor.rank(); ++mode) {
    const auto mode_leaves = leaves_of(facts, tensor[mode]);
    if (mode_leaves.empty()) {
      trivial = mode;
    } else if (mode_leaves[0].second.is(1)) {
      return mode;
    }
  }
  return trivial;
}

std::vector<Predicate> vector_conditions(Facts& facts, const Layout& tensor, int mode, int vector) {
  std::vector<Predicate> result;
  const auto need = [&](const Int& number) {
    const Predicate condition = divides(number, vector);
    if (!facts.proves(condition) &&
        std::find(result.begin(), result.end(), condition) == result.end()) {
      result.push_back(condition);
    }
  };
  for (int i = 0; i < tensor.rank(); ++i) {
    const auto mode_leaves = leaves_of(facts, tensor[i]);
    for (std::size_t leaf = 0; leaf < mode_leaves.size(); ++leaf) {
      const bool runs = i == mode && leaf == 0;
      need(runs ? mode_leaves[leaf].first : mode_leaves[leaf].second);
    }
    if (i == mode && mode_leaves.empty()) result.assign(1, Predicate(vector == 1));
  }
  return result;
}

}  // namespace lay::tile
