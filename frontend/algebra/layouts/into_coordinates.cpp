#include "frontend/algebra/layouts/into_coordinates.h"

#include <functional>

#include "frontend/algebra/layouts/mode.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay {
namespace {

// The modes of a along one direction: as a layout into that part of the coordinate, and as one into
// a's indices.
struct Direction {
  Layout part, indices;
};

//     (4,2,3):(1@0,1@1,4@0)   along {0}: part (4,3):(1,4), indices (4,3):(1,8)
Direction direction_of(const Layout& a, const std::vector<int>& path) {
  std::vector<Tuple> extents, steps, weights;
  Int weight = 1;
  for (const Mode& mode : flat_modes(a)) {
    if (mode.stride.path() == path && !mode.stride.is_literal(0)) {
      extents.emplace_back(mode.extent);
      steps.emplace_back(mode.stride.value());
      weights.emplace_back(weight);
    }
    weight *= mode.extent;
  }
  if (extents.empty()) return {Layout(1, 0), Layout(1, 0)};
  const Tuple shape(std::move(extents));
  return {Layout(shape, Tuple(std::move(steps))), Layout(shape, Tuple(std::move(weights)))};
}

// One mode for each part of a coordinate of the shape, nested as it is.
Layout by_direction(const Layout& a, const Tuple& shape, std::vector<int>& path,
                    const std::function<Layout(const Direction&)>& inverse) {
  if (shape.is_leaf()) return inverse(direction_of(a, path));
  std::vector<Layout> modes;
  for (int k = 0; k < shape.rank(); ++k) {
    path.push_back(k);
    modes.push_back(by_direction(a, shape[k], path, inverse));
    path.pop_back();
  }
  return make_layout(modes);
}

Layout inverted(Facts& facts, const Layout& a,
                const std::function<Layout(Facts&, const Layout&)>& inverse) {
  std::vector<int> path;
  Layout result = by_direction(a, coshape(facts, a), path, [&](const Direction& d) {
    // part's inverse takes the coordinate to a place among these modes, `indices` takes that to a's
    // index.
    return composition(facts, d.indices, inverse(facts, d.part));
  });
  result.units = {a.units.codomain, a.units.domain};
  return result;
}

}  // namespace

Layout left_inverse_of_coordinates(Facts& facts, const Layout& a) {
  return inverted(facts, a, [](Facts& f, const Layout& part) { return left_inverse(f, part); });
}

Layout right_inverse_of_coordinates(Facts& facts, const Layout& a) {
  return inverted(facts, a, [](Facts& f, const Layout& part) { return right_inverse(f, part); });
}

Layout complement_of_coordinates(Facts& facts, const Layout& a, const Tuple& shape) {
  std::vector<int> path;
  const Layout along = by_direction(a, shape, path, [&](const Direction& d) {
    const Layout rest = complement(facts, d.part, size(get(shape, path)));
    const auto along_path = [&](const Tuple& step) { return Tuple::basis(step.value(), path); };
    return Layout(rest.shape, transform(rest.stride, along_path));
  });
  Layout result = coalesce(facts, along);
  result.units = {{}, a.units.codomain};
  return result;
}

}  // namespace lay
