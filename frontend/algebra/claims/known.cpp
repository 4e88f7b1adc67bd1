#include "frontend/algebra/claims/known.h"

#include <algorithm>

#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay {
namespace {

// Returns true if one path leads through the other.
// 1@0 and 1@0@0 are not independent: a step along the first is a step of all that the second is
// part of.
bool nested(const std::vector<int>& a, const std::vector<int>& b) {
  const size_t shared = std::min(a.size(), b.size());
  return a.size() != b.size() &&
         std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(shared), b.begin());
}

bool any_nested(const std::vector<std::vector<int>>& paths) {
  for (const auto& a : paths) {
    for (const auto& b : paths) {
      if (nested(a, b)) return true;
    }
  }
  return false;
}

// Returns the axis of a path, which is added where no mode steps along it: an offset may.
size_t axis_for(Known& known, const std::vector<int>& path) {
  const auto found = known.axis_of(path);
  if (found) return *found;
  known.paths.push_back(path);
  known.offsets.push_back(0);
  return known.paths.size() - 1;
}

// An offset that is a coordinate, (2,(0,3)), is 2 along path {0} and 3 along {1,1}.
bool add_offset(Known& known, const Tuple& offset, std::vector<int>& path) {
  if (offset.is_tuple()) {
    for (int k = 0; k < offset.rank(); ++k) {
      path.push_back(k);
      if (!add_offset(known, offset[k], path)) return false;
      path.pop_back();
    }
    return true;
  }
  if (offset.is_underscore() || !offset.value().is_literal()) return false;
  if (offset.is_literal(0)) return true;
  std::vector<int> whole = path;
  whole.insert(whole.end(), offset.path().begin(), offset.path().end());
  known.offsets[axis_for(known, whole)] += offset.value().value();
  return true;
}

}  // namespace

std::vector<Bounded> Known::terms(size_t axis, int64_t sign) const {
  std::vector<Bounded> result;
  for (const KnownMode& mode : modes) {
    if (mode.axis == axis) result.push_back({mode.stride * sign, 0, mode.extent - 1, 0});
  }
  return result;
}

std::optional<size_t> Known::axis_of(const std::vector<int>& path) const {
  const auto found = std::find(paths.begin(), paths.end(), path);
  if (found == paths.end()) return std::nullopt;
  return static_cast<size_t>(found - paths.begin());
}

std::string Known::coordinate(int64_t index) const {
  Facts facts;
  return idx2crd(facts, index, shape).to_string();
}

std::optional<Known> known_layout(const Layout& a, const Tuple& offset) {
  if (!a.is_known()) return std::nullopt;
  Known known;
  known.shape = a.shape;
  const std::vector<Tuple> extents = leaves(a.shape), strides = leaves(a.stride);
  const bool basis = a.has_basis();
  if (!basis) axis_for(known, {});
  for (const Tuple& stride : strides) {
    if (stride.is_basis()) axis_for(known, stride.path());
  }
  for (size_t i = 0; i < extents.size(); ++i) {
    const int64_t extent = extents[i].value().value(), stride = strides[i].value().value();
    if (extent > 1) {
      if (stride == INT64_MIN) return std::nullopt;
      const size_t axis = basis && !strides[i].is_basis() ? 0 : axis_for(known, strides[i].path());
      known.modes.push_back({extent, stride, axis, known.size});
    }
    known.size = checked_mul(known.size, extent);
  }
  std::vector<int> path;
  if (!add_offset(known, offset, path) || any_nested(known.paths)) return std::nullopt;
  return known;
}

}  // namespace lay
