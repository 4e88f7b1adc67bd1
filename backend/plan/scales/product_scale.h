// A scale of a product on tensor cores, as the threads read it.
#pragma once

#include <array>

#include "backend/tile/products/group_scale.h"
#include "frontend/algebra/layouts/layout.h"

namespace lay::plan {

using tile::common_group;
using tile::constant_run;
using tile::group_scale;
using tile::GroupScale;

// A factor of the product that is one number for each promotion interval of K. A thread reads those
// of its accumulators before the products of an interval, and multiplies their sums by them where
// it adds these to the totals:
//
//   total[m,n] += scale(m, n, first of the interval) * sum[k of the interval](A[m,k] * B[n,k])
//
// Accumulators of one row, of one column, or of several for which the factor is the same, share a
// number.
struct ProductScale {
  GroupScale factor;
  std::array<bool, 2> varies{};  // with m, with n
  // (value of the atom), (atom along m), (atom along n) -> number, of which the parts add.
  std::array<Layout, 3> held;
  Layout read{1, 0};  // number -> (m, n), from the thread's first accumulator on: basis strides
  int count = 1;      // numbers of a thread

  friend bool operator==(const ProductScale&, const ProductScale&) = default;
};

}  // namespace lay::plan
