#include "frontend/algebra/layouts/codomain.h"

#include <algorithm>

#include "frontend/algebra/layouts/operations.h"

namespace lay {
namespace {

// A side is a part of the shape that one axis of the layout moves along, or that none does. `radix`
// turns its coordinate into a 1-D index of the shape.
void add_sides(const Known& known, const Tuple& shape, std::vector<int>& path, int64_t& radix,
               std::vector<Side>& sides) {
  const auto axis = known.axis_of(path);
  if (axis || shape.is_leaf()) {
    const int64_t extent = size(shape).value();
    sides.push_back({axis, extent, radix});
    radix = checked_mul(radix, extent);
    return;
  }
  for (int k = 0; k < shape.rank(); ++k) {
    path.push_back(k);
    add_sides(known, shape[k], path, radix, sides);
    path.pop_back();
  }
}

// The smallest index at which sign*(value along the axis) reaches at least `target`.
std::optional<int64_t> first_reaching(const Known& known, size_t axis, int64_t sign, Wide target) {
  std::vector<Bounded> terms = known.terms(axis, sign);
  const Wide offset = known.offsets[axis] * sign;
  // With all digits at their greatest the target is not reached.
  if (offset + greatest_sum(terms) < target) return std::nullopt;
  std::vector<int64_t> radices;
  for (const KnownMode& mode : known.modes) {
    if (mode.axis == axis) radices.push_back(mode.radix);
  }
  int64_t index = 0;
  for (size_t k = terms.size(); k-- > 0;) {
    // From the top digit down, the least for which the target can still be reached: that makes the
    // least index.
    const auto digit = least_holding(terms[k].high, [&](int64_t n) {
      const int64_t high = std::exchange(terms[k].high, n);
      const bool reached = offset + greatest_sum(terms) >= target;
      terms[k].high = high;
      return reached ? Tri::yes : Tri::no;
    });
    terms[k].low = terms[k].high = *digit;
    index += *digit * radices[k];
  }
  return index;
}

std::optional<int64_t> least(std::optional<int64_t> a, std::optional<int64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// The least value from 0 up that the axis does not give. With the strides' signs taken off, values
// begin at 0 and are dense as long as each stride, in ascending order, is at most one more than
// what those before it reach.
Missing first_missing_along(const Known& known, size_t axis, int64_t extent) {
  std::vector<Bounded> terms = known.terms(axis);
  const Wide begin =
      -(known.offsets[axis] + least_sum(terms));  // the value 0, counted from the least value
  // Mirrored modes give the same values, counted from the least one.
  for (Bounded& term : terms) term.stride = term.stride < 0 ? -term.stride : term.stride;
  std::sort(terms.begin(), terms.end(),
            [](const Bounded& a, const Bounded& b) { return a.stride < b.stride; });
  Wide dense = 0;
  for (const Bounded& term : terms) {
    if (term.stride > dense + 1) break;
    dense += Wide{term.stride} * term.high;
  }
  if (begin < 0) return {Tri::yes, 0};
  // Within the dense part the first gap is just behind it.
  if (begin <= dense + 1) {
    const Wide missing = dense + 1 - begin;
    return missing < extent ? Missing{Tri::yes, static_cast<int64_t>(missing)} : Missing{Tri::no};
  }
  // Beyond the dense part value by value, each a sum of bounded integers.
  int steps = kKnownSteps;
  for (int64_t value = 0; value < extent; ++value) {
    const Wide target = begin + value;
    const Tri answer = solvable(terms, {&target, 1}, --steps);
    if (answer == Tri::no) return {Tri::yes, value};
    if (answer == Tri::unknown) return {answer};
  }
  return {Tri::no};
}

}  // namespace

std::vector<Side> sides_of(const Known& known, const Tuple& shape) {
  std::vector<Side> sides;
  std::vector<int> path;
  int64_t radix = 1;
  add_sides(known, shape, path, radix, sides);
  size_t met = 0;
  for (const Side& side : sides) met += side.axis.has_value();
  if (met != known.paths.size()) {
    throw refusal("coordinate-rank",
                  "the values are no coordinates of the shape " + shape.to_string(),
                  "give a shape with a mode for each direction of the strides");
  }
  return sides;
}

std::optional<int64_t> first_outside(const Known& known, size_t axis, Wide low, Wide high) {
  return least(first_reaching(known, axis, 1, high + 1), first_reaching(known, axis, -1, 1 - low));
}

std::optional<int64_t> first_outside(const Known& known, const std::vector<Side>& sides) {
  std::optional<int64_t> first;
  for (const Side& side : sides) {
    if (side.axis) first = least(first, first_outside(known, *side.axis, 0, side.extent - 1));
  }
  return first;
}

Missing first_missing(const Known& known, const std::vector<Side>& sides) {
  Missing first{Tri::no};
  for (const Side& side : sides) {
    Missing along{side.extent > 1 ? Tri::yes : Tri::no, 1};
    if (side.axis) along = first_missing_along(known, *side.axis, side.extent);
    if (along.answer == Tri::unknown) return along;
    if (along.answer == Tri::no) continue;
    along.index *= side.radix;
    if (first.answer == Tri::no || along.index < first.index) first = along;
  }
  return first;
}

int64_t swizzle_block(const Swizzle& s) {
  int64_t block = 1;
  // The power of two above the highest bit that is changed.
  while (block <= s.target_mask()) block *= 2;
  return block;
}

}  // namespace lay
