#pragma once

// Layouts: functions from coordinates to offsets, written shape : stride.
//
//     Layout a = layout(tuple(4, 2), tuple(1, 4));          (4,2):(1,4)
//     Layout b = layout(tuple(tuple(2,2),2), tuple(tuple(4,1),2));    ((2,2),2):((4,1),2)
//
//     b as a table: rows are mode 0 = (2,2):(4,1), columns are mode 1 = 2:2
//
//              0    1
//       0      0    2        b at coordinate (1,0), in full ((1,0),0), as a 1-D index 1:   1*4 +
//       0*1 + 0*2 = 4 1      4    6        b at ((0,1),1), as (2,1), as index 6: 0*4 + 1*1 + 1*2 =
//       3 2      1    3 3      5    7
//
// Shape and stride have the same nesting. Coordinates are counted colexicographically: the
// left-most mode runs fastest. A layout takes a 1-D index, a natural coordinate, and everything
// between (an index where the shape has a tuple is split over it); the last mode of a split absorbs
// what lies beyond the size, as in CuTe.
//
// Strides are integers, or basis elements: (4,3):(1@0,1@1) maps a coordinate to itself. All
// integers may be symbolic. A swizzled layout is a composed one: Sw<3,3,3> o 0 o (8,64):(64,1) maps
// c to Sw(0 + L(c)).

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/algebra/integers/facts.h"
#include "frontend/algebra/layouts/swizzle.h"
#include "frontend/algebra/layouts/units.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/algebra/tuples/mode_names.h"
#include "frontend/algebra/tuples/tuple.h"

namespace lay {

struct Layout {
  Tuple shape = 1;
  Tuple stride = 0;
  Units units;
  ModeNames names;  // of the modes, where given

  Layout() = default;
  // Refusal "not-congruent" if shape and stride nest differently, "negative-extent" for a literal
  // extent below 1, "underscore", "basis-extent" for what cannot stand in a shape, "mixed-strides"
  // for integer and basis strides in one layout (0 goes with both).
  Layout(Tuple the_shape, Tuple the_stride, Units the_units = {}, ModeNames the_names = nullptr);

  int rank() const { return shape.rank(); }
  int depth() const { return shape.depth(); }
  Layout operator[](int mode) const;

  // "(4,2):(1,4)". Units and names are not printed.
  std::string to_string() const;
  // The same shape and strides, symbol for symbol. Units and names are not compared.
  friend bool operator==(const Layout& a, const Layout& b) {
    return a.shape == b.shape && a.stride == b.stride;
  }

  bool has_basis() const { return stride.has_basis(); }
  bool is_known() const { return shape.is_known() && stride.is_known(); }
};

inline Layout layout(Tuple shape, Tuple stride) {
  return Layout(std::move(shape), std::move(stride));
}

// c -> outer(offset + inner(c)). The offset is an integer, or a coordinate where the outer function
// takes one.
struct Composed {
  std::variant<Swizzle, Layout> outer;
  Tuple offset;
  std::variant<Layout, Swizzle> inner;

  // The layout inside; Refusal "no-shape" if the inner function is a swizzle, which has none.
  const Layout& layout() const;
  // "Sw<3,3,3> o 0 o (8,64):(64,1)"
  std::string to_string() const;
  friend bool operator==(const Composed&, const Composed&) = default;
};

// A layout that can be applied to coordinates and tiled.
using AnyLayout = std::variant<Layout, Composed>;

std::string to_string(const AnyLayout& a);

// A swizzled layout whose swizzle moves nothing (B = 0, offset 0) as the layout that it is; others
// as they are.
AnyLayout simplified(AnyLayout a);

// The value at a coordinate: an integer, or a coordinate (a tuple) for basis strides.
// Law: the inner product of the natural coordinate with the strides. Refusal "coordinate-rank" if
// the coordinate does not fit the shape, "underscore" if it slices (see slice in operations.h).
Tuple evaluate(Facts& facts, const Layout& a, const Tuple& coordinate);
Tuple evaluate(Facts& facts, const Composed& a, const Tuple& coordinate);
Tuple evaluate(Facts& facts, const AnyLayout& a, const Tuple& coordinate);

// Tells whether the coordinate certainly lies inside the shape, certainly lies outside ("past the
// end"), or is undecided.
Verdict inside(const Facts& facts, const Tuple& coordinate, const Tuple& shape);

// The values at 1-D indices 0 .. size-1 of a layout with known integer strides: one pass, no
// symbols. Refusal "too-many" above 2^20 values, "symbolic" if the layout is not known.
std::vector<int64_t> values(const AnyLayout& a);
// The same as a tuple, coordinates for basis strides; strides may be symbolic.
Tuple value_tuple(Facts& facts, const AnyLayout& a);

// Every dim replaced by what the map says.
Layout substitute(const Layout& a, const std::map<DimId, Int>& replacement);
Composed substitute(const Composed& a, const std::map<DimId, Int>& replacement);

}  // namespace lay
