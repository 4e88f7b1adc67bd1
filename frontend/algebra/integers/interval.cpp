#include "frontend/algebra/integers/interval.h"

#include <algorithm>
#include <array>

#include "frontend/algebra/integers/floor.h"

namespace lay {
namespace {

// The two ends that mean no bound below and none above.
constexpr int64_t kNone = INT64_MIN, kEndless = INT64_MAX;

// Sums and products that stop at the ends: a bound that does not fit 64 bits is no bound, or one
// within it.
int64_t plus(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) return a < 0 ? kNone : kEndless;
  return r;
}

int64_t times(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) return (a < 0) != (b < 0) ? kNone : kEndless;
  return r;
}

bool is_end(int64_t x) {
  return x == kNone || x == kEndless;
}

// The product of two ends, an endless one times 0 being 0.
// 0 * endless is 0: the factor is an integer, however large.
int64_t corner(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (is_end(a) || is_end(b)) return (a < 0) != (b < 0) ? kNone : kEndless;
  return times(a, b);
}

// One end of a quotient by b > 0.
int64_t quotient_end(int64_t a, int64_t b) {
  if (is_end(a)) return a;
  if (b == kEndless) return a < 0 ? -1 : 0;
  return floor_of(a, b);
}

}  // namespace

Interval add(const Interval& a, const Interval& b) {
  return {a.lower == kNone || b.lower == kNone ? kNone : plus(a.lower, b.lower),
          a.upper == kEndless || b.upper == kEndless ? kEndless : plus(a.upper, b.upper)};
}

// A product is bilinear, so it is least and greatest at corners of the box.
Interval multiply(const Interval& a, const Interval& b) {
  const std::array<int64_t, 4> corners{corner(a.lower, b.lower), corner(a.lower, b.upper),
                                       corner(a.upper, b.lower), corner(a.upper, b.upper)};
  return {*std::min_element(corners.begin(), corners.end()),
          *std::max_element(corners.begin(), corners.end())};
}

Interval floor_divide(const Interval& a, const Interval& b) {
  // Divisors that may be 0 or change the sign leave no bound.
  if (b.lower < 1) return {};
  //     a // b with a >= 0 is least for the greatest b, with a < 0 for the least one
  return {quotient_end(a.lower, a.lower >= 0 ? b.upper : b.lower),
          quotient_end(a.upper, a.upper >= 0 ? b.lower : b.upper)};
}

// Rounded inwards: only whole quotients count.
Interval divide_exactly(const Interval& a, int64_t by) {
  return {is_end(a.lower) ? a.lower : -floor_of(-a.lower, by),
          is_end(a.upper) ? a.upper : floor_of(a.upper, by)};
}

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
}

Tri at_least(const Interval& a, int64_t bound) {
  if (a.lower != kNone && a.lower >= bound) return Tri::yes;
  return a.upper != kEndless && a.upper < bound ? Tri::no : Tri::unknown;
}

Tri is_zero(const Interval& a) {
  if (a.lower > 0 || a.upper < 0) return Tri::no;
  return a.lower == 0 && a.upper == 0 ? Tri::yes : Tri::unknown;
}

Tri is_multiple(const Interval& a, const Interval& by) {
  if (a.lower == 0 && a.upper == 0 && by.lower > 0) return Tri::yes;
  // 0 < a < by: no multiple lies there.
  if (by.lower > 0 && a.lower > 0 && a.upper < by.lower) return Tri::no;
  if (!by.is_point() || by.lower < 1 || is_end(a.lower) || is_end(a.upper)) return Tri::unknown;
  // The multiples up to a.upper are as many as those below a.lower: none lies between.
  if (floor_of(a.lower - 1, by.lower) == floor_of(a.upper, by.lower)) return Tri::no;
  return a.is_point() || by.lower == 1 ? Tri::yes : Tri::unknown;
}

}  // namespace lay
