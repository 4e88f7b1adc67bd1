#pragma once

// Inside the algebra: integers and conditions over boxes of sizes, by interval arithmetic. What is said of a box holds
// for every point in it; nothing is said where the bounds are too wide.

#include <array>
#include <cstdint>
#include <vector>

#include "frontend/algebra/predicate.h"

namespace lay {

// Both ends belong to it. INT64_MIN as lower end and INT64_MAX as upper end mean without end.
struct Interval {
  int64_t lower = INT64_MIN;
  int64_t upper = INT64_MAX;
  bool is_point() const { return lower == upper; }
};

// What each dim may be; dims that are not listed may be anything.
struct Box {
  std::vector<DimId> dims;
  std::vector<Interval> ranges;
};

Interval interval_of(const Int& a, const Box& box);

// A condition over a box: it holds everywhere, nowhere, or may do either. Where it has no value (an inexact quotient, a
// division by 0) it counts as either.
enum class Everywhere : uint8_t { yes, no, unknown };

// A condition made ready for many boxes: comparisons as one difference, so that equal parts cancel.
class BoxPredicate {
 public:
  explicit BoxPredicate(const Predicate& predicate);
  Everywhere over(const Box& box) const;

 private:
  PredicateKind kind_;
  Int difference_;  // of comparisons: b - a
  Int a_, b_;       // of divisibility
  std::vector<BoxPredicate> parts_;
};

}  // namespace lay
