#pragma once

// The layout behind a table of offsets.
//
//     0 4 1 5 2 6 3 7          (2,4):(4,1)
//     0 1 3 2                  no layout; Sw<1,0,1> o 0 o 4:1
//     0 1 2 3 5 6              entry 5: no candidate goes on from 0 1 2 3 5 to 6
//
// Law: the result's value at 1-D index i is values[i], with as many modes as the table has, and of
// those the fewest leaves. A layout is preferred; then the swizzle Sw<B,M,S> whose layout has the
// fewest leaves, then the smallest B, |S| and M. A table that does not begin with 0 gets an offset.
// Among the layouts with given extents there is at most one function for each table, so a table
// that is refused has none: `broken` is the first entry after which no layout of that shape,
// swizzled or not, goes on. An entry 2^63 or more from the first is one, for strides and the sums
// of their multiples have 64 bits.

#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/algebra/layouts/layout.h"

namespace lay {

struct OffsetTable {
  std::vector<int64_t> extents;  // of the modes, the first fastest; at least one
  std::vector<int64_t> values;   // at every 1-D index
};

struct FittedLayout {
  std::optional<AnyLayout> layout;
  // Without a layout: the first entry that breaks every candidate.
  int64_t broken = 0;
  std::optional<int64_t>
      expected;  // what the one that gets so far would give there, if it fits 64 bits
};

// Refusal "too-many" above 2^20 entries; "limit" if 2^27 looks at entries do not settle which
// swizzles fit (where some do, the best of those is given).
FittedLayout fit_table(const OffsetTable& table);

}  // namespace lay
