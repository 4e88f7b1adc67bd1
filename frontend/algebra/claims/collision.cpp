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

  Answer find() {
    for (const KnownMode& mode : modes_) boxes_.push_back({mode.stride, 0, 0});
    for (size_t top = 0; top < modes_.size(); ++top) {
      boxes_[top] = {modes_[top].stride, 1, modes_[top].extent - 1};
      const Answer answer = solved();
      if (answer == Answer::yes) return narrow(top);
      if (answer == Answer::unknown) return answer;
      boxes_[top].low = 1 - modes_[top].extent;
    }
    return Answer::no;
  }
  IndexPair pair() const { return pair_; }

 private:
  Answer solved() {
    const Wide zero = 0;
    return solvable(boxes_, {&zero, 1}, steps_);
  }

  // Digit by digit from the top: the least positive parts, then the least negative ones.
  Answer narrow(size_t top) {
    for (size_t k = top + 1; k-- > 0;) {
      Bounded& box = boxes_[k];
      const int64_t least = k == top ? 1 : 0;
      const auto part = least_holding(box.high - least, [&](int64_t n) {
        const int64_t high = std::exchange(box.high, least + n);
        const Answer answer = solved();
        box.high = high;
        return answer;
      });
      if (!part) return Answer::unknown;
      box.high = least + *part;
      if (box.high > 0) box.low = box.high;
      pair_.second += box.high * modes_[k].radix;
    }
    for (size_t k = top; k-- > 0;) {
      Bounded& box = boxes_[k];
      if (box.high > 0) continue;
      const auto part = least_holding(-box.low, [&](int64_t n) {
        const int64_t low = std::exchange(box.low, -n);
        const Answer answer = solved();
        box.low = low;
        return answer;
      });
      if (!part) return Answer::unknown;
      box.low = box.high = -*part;
      pair_.first += *part * modes_[k].radix;
    }
    return Answer::yes;
  }

  std::vector<KnownMode> modes_;
  int steps_ = kKnownSteps;
  std::vector<Bounded> boxes_;
  IndexPair pair_;
};

}  // namespace

Answer collision(const std::vector<KnownMode>& modes, IndexPair& pair) {
  Collision search(modes);
  const Answer answer = search.find();
  if (answer == Answer::yes) pair = search.pair();
  return answer;
}

// A pair that differs along two axes would leave a smaller one along each.
Answer collision(const Known& known, IndexPair& pair) {
  Answer all = Answer::no;
  for (size_t axis = 0; axis < known.paths.size(); ++axis) {
    std::vector<KnownMode> modes;
    std::copy_if(known.modes.begin(), known.modes.end(), std::back_inserter(modes),
                 [&](const KnownMode& m) { return m.axis == axis; });
    IndexPair of_axis;
    const Answer answer = collision(modes, of_axis);
    if (answer == Answer::unknown) return answer;
    if (answer == Answer::no) continue;
    if (all == Answer::no || of_axis.second < pair.second) pair = of_axis;
    all = Answer::yes;
  }
  return all;
}

}  // namespace lay
