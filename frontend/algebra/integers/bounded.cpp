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

// What the terms from one on can add up to.
struct Rest {
  Wide low = 0, high = 0, divisor = 0;
};

// One axis, its terms by falling stride.
class Axis {
 public:
  Axis(std::span<const Bounded> terms, size_t axis) {
    for (const Bounded& term : terms) {
      if (term.axis != axis) continue;
      if (term.low == term.high) {
        fixed_ += Wide{term.stride} * term.low;
      } else if (term.stride != 0) {
        terms_.push_back(term);
      }
    }
    std::stable_sort(terms_.begin(), terms_.end(), [](const Bounded& a, const Bounded& b) {
      return magnitude(a.stride) > magnitude(b.stride);
    });
    rests_.resize(terms_.size() + 1);
    for (size_t k = terms_.size(); k > 0; --k) {
      const std::span<const Bounded> one(&terms_[k - 1], 1);
      rests_[k - 1] = {rests_[k].low + least_sum(one), rests_[k].high + greatest_sum(one),
                       common_divisor(rests_[k].divisor, terms_[k - 1].stride)};
    }
  }

  Answer reaches(Wide target, int& steps) const { return from(0, target - fixed_, steps); }

 private:
  Answer from(size_t k, Wide target, int& steps) const {
    const Rest& all = rests_[k];
    if (target < all.low || target > all.high) return Answer::no;
    if (all.divisor != 0 && target % all.divisor != 0) return Answer::no;
    if (k == terms_.size()) return target == 0 ? Answer::yes : Answer::no;
    if (--steps < 0) return Answer::unknown;
    return over_choices(k, target, steps);
  }

  // The x of term k for which the rest is in reach, and leaves a multiple of its divisor.
  Answer over_choices(size_t k, Wide target, int& steps) const {
    const Bounded& term = terms_[k];
    const Rest& rest = rests_[k + 1];
    const Wide d = magnitude(term.stride);
    const Wide low_sum = target - rest.high, high_sum = target - rest.low;  // of x*stride
    Wide low = -floor_quotient(-low_sum, d), high = floor_quotient(high_sum, d);
    if (term.stride < 0) {
      std::swap(low, high);
      low = -low;
      high = -high;
    }
    low = std::max<Wide>(low, term.low);
    high = std::min<Wide>(high, term.high);
    Wide step = 1;
    if (rest.divisor > 0) {
      const Wide common = common_divisor(term.stride, rest.divisor);
      step = rest.divisor / common;
      if (step > 1) {
        const Wide wanted =
            (((target / common) % step) * inverse_modulo(term.stride / common, step)) % step;
        low += (((wanted - low) % step) + step) % step;
      }
    }
    for (Wide x = low; x <= high; x += step) {
      const Answer answer = from(k + 1, target - x * term.stride, steps);
      if (answer != Answer::no) return answer;
      if (steps < 0) return Answer::unknown;
    }
    return Answer::no;
  }

  std::vector<Bounded> terms_;
  std::vector<Rest> rests_;
  Wide fixed_ = 0;
};

}  // namespace

Answer solvable(std::span<const Bounded> terms, std::span<const Wide> targets, int& steps) {
  for (size_t axis = 0; axis < targets.size(); ++axis) {
    const Answer answer = Axis(terms, axis).reaches(targets[axis], steps);
    if (answer != Answer::yes) return answer;
  }
  return Answer::yes;
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
