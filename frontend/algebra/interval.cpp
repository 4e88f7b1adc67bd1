#include "frontend/algebra/interval.h"

#include <algorithm>

#include "frontend/algebra/floor.h"
#include "frontend/algebra/refusal.h"

namespace lay {
namespace {

constexpr int64_t kNone = INT64_MIN, kEndless = INT64_MAX;

// Sums and products that stop at the ends: a bound that does not fit 64 bits is no bound, or one within it.
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

Interval add(const Interval& a, const Interval& b) {
  return {a.lower == kNone || b.lower == kNone ? kNone : plus(a.lower, b.lower),
          a.upper == kEndless || b.upper == kEndless ? kEndless : plus(a.upper, b.upper)};
}

bool is_end(int64_t x) {
  return x == kNone || x == kEndless;
}

// The product of two ends, an endless one times 0 being 0.
int64_t corner(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (is_end(a) || is_end(b)) return (a < 0) != (b < 0) ? kNone : kEndless;
  return times(a, b);
}

Interval multiply(const Interval& a, const Interval& b) {
  const std::array<int64_t, 4> corners{corner(a.lower, b.lower), corner(a.lower, b.upper), corner(a.upper, b.lower),
                                       corner(a.upper, b.upper)};
  return {*std::min_element(corners.begin(), corners.end()), *std::max_element(corners.begin(), corners.end())};
}

// One end of a quotient by b > 0.
int64_t quotient_end(int64_t a, int64_t b) {
  if (is_end(a)) return a;
  if (b == kEndless) return a < 0 ? -1 : 0;
  return floor_of(a, b);
}

Interval divide(const Interval& a, const Interval& b) {
  if (b.lower < 1) return {};
  return {quotient_end(a.lower, a.lower >= 0 ? b.upper : b.lower),
          quotient_end(a.upper, a.upper >= 0 ? b.lower : b.upper)};
}

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
}

Interval interval_of(const Atom& atom, const Box& box) {
  if (atom.kind == AtomKind::dim) {
    const auto found = std::find(box.dims.begin(), box.dims.end(), atom.id);
    return found == box.dims.end() ? Interval{} : box.ranges[static_cast<size_t>(found - box.dims.begin())];
  }
  const Interval a = lay::interval_of(atom.a, box), b = lay::interval_of(atom.b, box);
  switch (atom.kind) {
    case AtomKind::dim:
      break;
    case AtomKind::floor_div:
      return divide(a, b);
    case AtomKind::min:
      return {std::min(a.lower, b.lower), std::min(a.upper, b.upper)};
    case AtomKind::max:
      return {std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
    case AtomKind::select:
      return hull(a, b);
  }
  return {};
}

Everywhere opposite(Everywhere e) {
  return e == Everywhere::unknown ? e : e == Everywhere::yes ? Everywhere::no : Everywhere::yes;
}

Everywhere at_least(const Interval& a, int64_t bound) {
  if (a.lower != kNone && a.lower >= bound) return Everywhere::yes;
  return a.upper != kEndless && a.upper < bound ? Everywhere::no : Everywhere::unknown;
}

Everywhere is_zero(const Interval& a) {
  if (a.lower > 0 || a.upper < 0) return Everywhere::no;
  return a.lower == 0 && a.upper == 0 ? Everywhere::yes : Everywhere::unknown;
}

Everywhere is_multiple(const Interval& a, const Interval& by) {
  if (a.lower == 0 && a.upper == 0 && by.lower > 0) return Everywhere::yes;
  if (by.lower > 0 && a.lower > 0 && a.upper < by.lower) return Everywhere::no;
  if (!by.is_point() || by.lower < 1 || is_end(a.lower) || is_end(a.upper)) return Everywhere::unknown;
  if (floor_of(a.lower - 1, by.lower) == floor_of(a.upper, by.lower)) return Everywhere::no;
  return a.is_point() || by.lower == 1 ? Everywhere::yes : Everywhere::unknown;
}

}  // namespace

Interval interval_of(const Int& a, const Box& box) {
  if (a.is_literal()) return {a.value(), a.value()};
  Interval sum{0, 0};
  for (const Term& term : a.polynomial().terms) {
    Interval product{term.coefficient, term.coefficient};
    for (const Factor& factor : term.factors) {
      const Interval value = interval_of(*factor.atom, box);
      for (int i = 0; i < factor.exponent; ++i) product = multiply(product, value);
    }
    sum = add(sum, product);
  }
  const int64_t denominator = a.polynomial().denominator;
  if (denominator == 1) return sum;
  if (!is_end(sum.lower)) sum.lower = -floor_of(-sum.lower, denominator);
  if (!is_end(sum.upper)) sum.upper = floor_of(sum.upper, denominator);
  return sum;
}

BoxPredicate::BoxPredicate(const Predicate& predicate) : kind_(predicate.kind()) {
  const PredicateNode& n = predicate.node();
  switch (kind_) {
    case PredicateKind::always:
    case PredicateKind::never:
      break;
    case PredicateKind::equal:
    case PredicateKind::not_equal:
    case PredicateKind::less:
    case PredicateKind::less_equal:
      difference_ = n.b - n.a;
      break;
    case PredicateKind::divides:
    case PredicateKind::not_divides:
      a_ = n.a;
      b_ = n.b;
      break;
    case PredicateKind::both:
    case PredicateKind::either:
      parts_ = {BoxPredicate(Predicate::of(n.left)), BoxPredicate(Predicate::of(n.right))};
      break;
  }
}

Everywhere BoxPredicate::over(const Box& box) const {
  switch (kind_) {
    case PredicateKind::always:
      return Everywhere::yes;
    case PredicateKind::never:
      return Everywhere::no;
    case PredicateKind::equal:
      return is_zero(interval_of(difference_, box));
    case PredicateKind::not_equal:
      return opposite(is_zero(interval_of(difference_, box)));
    case PredicateKind::less:
      return at_least(interval_of(difference_, box), 1);
    case PredicateKind::less_equal:
      return at_least(interval_of(difference_, box), 0);
    case PredicateKind::divides:
      return is_multiple(interval_of(a_, box), interval_of(b_, box));
    case PredicateKind::not_divides:
      return opposite(is_multiple(interval_of(a_, box), interval_of(b_, box)));
    case PredicateKind::both:
    case PredicateKind::either: {
      const Everywhere settles = kind_ == PredicateKind::both ? Everywhere::no : Everywhere::yes;
      const Everywhere left = parts_[0].over(box);
      if (left == settles) return settles;
      const Everywhere right = parts_[1].over(box);
      return right == settles ? settles : left == right ? left : Everywhere::unknown;
    }
  }
  return Everywhere::unknown;
}

}  // namespace lay
