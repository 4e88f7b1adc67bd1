#include "frontend/algebra/claims/collision.h"

#include <algorithm>
#include <utility>

namespace lay {
namespace {

// Two coordinates differ by x_k in each mode, and sum x_k*stride_k == 0. The greater has the
// positive parts of x, the smaller the negative ones: a pair that shares a step would leave a
// smaller pair without it.
class Collision {
 public:
  explicit Collision(std::vector<KnownMode> modes) : modes_(std::move(modes)) {}

  // Modes are let in one by one, from the lowest: `top` takes a difference of 1 or more and the
  // modes below any. The first `top` with a solution is the highest mode in which the smallest
  // colliding pair can differ, for with fewer modes there is none.
  Tri find() {
    for (const KnownMode& mode : modes_) boxes_.push_back({mode.stride, 0, 0});
    for (size_t top = 0; top < modes_.size(); ++top) {
      boxes_[top] = {modes_[top].stride, 1, modes_[top].extent - 1};
      const Tri answer = solved();
      if (answer == Tri::yes) return narrow(top);
      if (answer == Tri::unknown) return answer;
      // No collision has its highest difference here: from now on this mode may differ either way.
      boxes_[top].low = 1 - modes_[top].extent;
    }
    return Tri::no;
  }
  IndexPair pair() const { return pair_; }

 private:
  Tri solved() {
    const Wide zero = 0;
    return solvable(boxes_, {&zero, 1}, steps_);
  }

  // Digit by digit from the top: the least positive parts, then the least negative ones.
  // The greater index of the pair is sum of the positive parts times radix; its digits are made as
  // small as they can be from the top down, each by bisection over `solvable`.
  Tri narrow(size_t top) {
    for (size_t k = top + 1; k-- > 0;) {
      Bounded& box = boxes_[k];
      // The highest digit must differ, or the pair would be one index.
      const int64_t least = k == top ? 1 : 0;
      const auto part = least_holding(box.high - least, [&](int64_t n) {
        const int64_t high = std::exchange(box.high, least + n);
        const Tri answer = solved();
        box.high = high;
        return answer;
      });
      if (!part) return Tri::unknown;
      box.high = least + *part;
      // A digit with a positive part is settled. One without may still be negative: it belongs to
      // the smaller index.
      if (box.high > 0) box.low = box.high;
      pair_.second += box.high * modes_[k].radix;
    }
    // The smaller index has the negative parts, which are made small in the same way.
    for (size_t k = top; k-- > 0;) {
      Bounded& box = boxes_[k];
      if (box.high > 0) continue;
      const auto part = least_holding(-box.low, [&](int64_t n) {
        const int64_t low = std::exchange(box.low, -n);
        const Tri answer = solved();
        box.low = low;
        return answer;
      });
      if (!part) return Tri::unknown;
      box.low = box.high = -*part;
      pair_.first += *part * modes_[k].radix;
    }
    return Tri::yes;
  }

  std::vector<KnownMode> modes_;
  int steps_ = kKnownSteps;
  std::vector<Bounded> boxes_;
  IndexPair pair_;
};

}  // namespace

Tri collision(const std::vector<KnownMode>& modes, IndexPair& pair) {
  Collision search(modes);
  const Tri answer = search.find();
  if (answer == Tri::yes) pair = search.pair();
  return answer;
}

// A pair that differs along two axes would leave a smaller one along each.
Tri collision(const Known& known, IndexPair& pair) {
  Tri all = Tri::no;
  for (size_t axis = 0; axis < known.paths.size(); ++axis) {
    std::vector<KnownMode> modes;
    std::copy_if(known.modes.begin(), known.modes.end(), std::back_inserter(modes),
                 [&](const KnownMode& m) { return m.axis == axis; });
    IndexPair of_axis;
    const Tri answer = collision(modes, of_axis);
    if (answer == Tri::unknown) return answer;
    if (answer == Tri::no) continue;
    if (all == Tri::no || of_axis.second < pair.second) pair = of_axis;
    all = Tri::yes;
  }
  return all;
}

}  // namespace lay
