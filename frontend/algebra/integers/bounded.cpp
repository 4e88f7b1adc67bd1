#include "frontend/algebra/integers/bounded.h"

#include <algorithm>

namespace lay {
namespace {

Wide magnitude(Wide a) {
  return a < 0 ? -a : a;
}

Wide floor_quotient(Wide a, Wide b) {  // b > 0
  const Wide q = a / b;
  return q * b > a ? q - 1 : q;
}

Wide common_divisor(Wide a, Wide b) {
  a = magnitude(a);
  b = magnitude(b);
  while (b != 0) {
    const Wide r = a % b;
    a = b;
    b = r;
  }
  return a;
}

// x with a*x == 1 mod m, for coprime a and m > 1.
// The extended Euclidean algorithm: r_i == x_i * a mod m holds on every line, and the last r that
// is not 0 is 1.
Wide inverse_modulo(Wide a, Wide m) {
  Wide r0 = m, r1 = ((a % m) + m) % m, x0 = 0, x1 = 1;
  while (r1 != 0) {
    const Wide q = r0 / r1, r2 = r0 - q * r1, x2 = x0 - q * x1;
    r0 = r1;
    r1 = r2;
    x0 = x1;
    x1 = x2;
  }
  return ((x0 % m) + m) % m;
}

// The sums that the terms from one on can reach.
struct Rest {
  Wide low = 0, high = 0, divisor = 0;
};

// One axis, its terms by falling stride.
class Axis {
 public:
  Axis(std::span<const Bounded> terms, size_t axis) {
    for (const Bounded& term : terms) {
      if (term.axis != axis) continue;
      // A digit that is settled, as the searches for least digits leave them, is a constant.
      if (term.low == term.high) {
        fixed_ += Wide{term.stride} * term.low;
      } else if (term.stride != 0) {
        terms_.push_back(term);
      }
    }
    // With the largest strides first the rest reaches least, so that few choices of a digit leave
    // the target within its reach.
    std::stable_sort(terms_.begin(), terms_.end(), [](const Bounded& a, const Bounded& b) {
      return magnitude(a.stride) > magnitude(b.stride);
    });
    rests_.resize(terms_.size() + 1);
    for (size_t k = terms_.size(); k > 0; --k) {
      // Suffix sums: what terms k-1, k, ... reach, and what all of their sums are multiples of.
      const std::span<const Bounded> one(&terms_[k - 1], 1);
      rests_[k - 1] = {rests_[k].low + least_sum(one), rests_[k].high + greatest_sum(one),
                       common_divisor(rests_[k].divisor, terms_[k - 1].stride)};
    }
  }

  Tri reaches(Wide target, int& steps) const { return from(0, target - fixed_, steps); }

 private:
  Tri from(size_t k, Wide target, int& steps) const {
    const Rest& all = rests_[k];
    // The two tests that cut the search: out of reach, and no multiple of the common divisor.
    if (target < all.low || target > all.high) return Tri::no;
    if (all.divisor != 0 && target % all.divisor != 0) return Tri::no;
    if (k == terms_.size()) return target == 0 ? Tri::yes : Tri::no;
    if (--steps < 0) return Tri::unknown;
    return over_choices(k, target, steps);
  }

  // The x of term k for which the rest is in reach, and leaves a multiple of its divisor.
  Tri over_choices(size_t k, Wide target, int& steps) const {
    const Bounded& term = terms_[k];
    const Rest& rest = rests_[k + 1];
    const Wide d = magnitude(term.stride);
    const Wide low_sum = target - rest.high, high_sum = target - rest.low;  // of x*stride
    // low_sum <= x*stride <= high_sum, rounded inwards; -floor(-a/d) is the ceiling.
    Wide low = -floor_quotient(-low_sum, d), high = floor_quotient(high_sum, d);
    // x*stride == -x*d: the bounds change places and signs.
    if (term.stride < 0) {
      std::swap(low, high);
      low = -low;
      high = -high;
    }
    low = std::max<Wide>(low, term.low);
    high = std::min<Wide>(high, term.high);
    Wide step = 1;
    // target - x*stride must be a multiple of g = rest.divisor. With c = gcd(stride, g) that is
    //
    //     x * (stride/c) == target/c   mod g/c
    //
    // which one x in g/c solves. The test for `all.divisor` has made target a multiple of c.
    if (rest.divisor > 0) {
      const Wide common = common_divisor(term.stride, rest.divisor);
      step = rest.divisor / common;
      if (step > 1) {
        const Wide wanted =
            (((target / common) % step) * inverse_modulo(term.stride / common, step)) % step;
        // The least x from low on that is `wanted` modulo step.
        low += (((wanted - low) % step) + step) % step;
      }
    }
    // Where strides nearly form a mixed radix one x is left, since the rest reaches less than a
    // stride.
    for (Wide x = low; x <= high; x += step) {
      const Tri answer = from(k + 1, target - x * term.stride, steps);
      if (answer != Tri::no) return answer;
      if (steps < 0) return Tri::unknown;
    }
    return Tri::no;
  }

  std::vector<Bounded> terms_;
  std::vector<Rest> rests_;
  Wide fixed_ = 0;
};

}  // namespace

// No term is of two axes, so the axes are solved one by one.
Tri solvable(std::span<const Bounded> terms, std::span<const Wide> targets, int& steps) {
  for (size_t axis = 0; axis < targets.size(); ++axis) {
    const Tri answer = Axis(terms, axis).reaches(targets[axis], steps);
    if (answer != Tri::yes) return answer;
  }
  return Tri::yes;
}

Wide least_sum(std::span<const Bounded> terms) {
  Wide sum = 0;
  for (const Bounded& t : terms) sum += std::min(Wide{t.stride} * t.low, Wide{t.stride} * t.high);
  return sum;
}

Wide greatest_sum(std::span<const Bounded> terms) {
  Wide sum = 0;
  for (const Bounded& t : terms) sum += std::max(Wide{t.stride} * t.low, Wide{t.stride} * t.high);
  return sum;
}

}  // namespace lay
