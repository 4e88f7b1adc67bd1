#pragma once

// Inside the algebra: interval arithmetic. Results for intervals hold for all integers in them;
// nothing is said where the bounds are too wide.

#include <array>
#include <cstdint>
#include <vector>

#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/support/verdict.h"

namespace lay {

// Both ends belong to it. INT64_MIN as lower end and INT64_MAX as upper end mean without end.
struct Interval {
  int64_t lower = INT64_MIN;
  int64_t upper = INT64_MAX;
  bool is_point() const { return lower == upper; }
};

// The values that each dim may have; dims that are not listed may be anything.
struct Box {
  std::vector<DimId> dims;
  std::vector<Interval> ranges;
};

// Sums, products and floored quotients of anything in the intervals. A bound that does not fit 64
// bits is no bound, or one within it; a divisor that may be below 1 leaves no bounds.
Interval add(const Interval& a, const Interval& b);
Interval multiply(const Interval& a, const Interval& b);
Interval floor_divide(const Interval& a, const Interval& b);
// The whole quotients by a literal above 0.
Interval divide_exactly(const Interval& a, int64_t by);
Interval hull(const Interval& a, const Interval& b);

// Conditions over a box: yes, it holds at every point; no, at none; unknown, it may do either.
// Where it has no value (an inexact quotient, a division by 0) the answer is unknown.
Tri at_least(const Interval& a, int64_t bound);
Tri is_zero(const Interval& a);
Tri is_multiple(const Interval& a, const Interval& by);

}  // namespace lay
