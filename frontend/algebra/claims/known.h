#pragma once

// Inside the algebra: layouts whose numbers are all known, as the flat list of modes that the
// propositions work on, and where a proposition fails on them.
//
//     ((2,2),4):((4,1),0)      modes {2,4,radix 1} {2,1,radix 2} {4,0,radix 4}, one axis
//     (4,3):(1@0,1@1)          one axis for each basis: paths {0} and {1}

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/algebra/integers/bounded.h"
#include "frontend/algebra/layouts/layout.h"

namespace lay {

struct KnownMode {
  int64_t extent;  // at least 2
  int64_t stride;
  size_t axis;
  int64_t radix;  // what a step adds to the 1-D index
};

struct Known {
  // For coordinates.
  Tuple shape;
  std::vector<std::vector<int>> paths;  // of the axes; the empty one for integers
  // In the order of the domain.
  std::vector<KnownMode> modes;
  // By axis: the value at index 0.
  std::vector<Wide> offsets;
  int64_t size = 1;

  // The terms of an axis, times the sign, from 0 to extent - 1.
  std::vector<Bounded> terms(size_t axis, int64_t sign = 1) const;
  // The axis of a path; nothing if no mode steps along it.
  std::optional<size_t> axis_of(const std::vector<int>& path) const;
  // The coordinate at an index as text: "(2,1)"; an index where the shape is one number.
  std::string coordinate(int64_t index) const;
};

// Nothing if the layout holds symbols or if one axis lies inside another. The extents multiply to a
// 64-bit number, so sums of extents times strides stay below 2^126.
std::optional<Known> known_layout(const Layout& a, const Tuple& offset = 0);

inline constexpr int kKnownSteps = 20'000;

}  // namespace lay
