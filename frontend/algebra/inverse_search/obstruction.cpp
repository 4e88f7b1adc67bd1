#include "frontend/algebra/inverse_search/obstruction.h"

#include <algorithm>
#include <optional>

#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/inverse_search/difference_candidates.h"
#include "frontend/algebra/inverse_search/upper_table.h"
#include "frontend/algebra/support/interruption.h"

namespace lay {
namespace {

constexpr int64_t kStepsToBegin = 64;  // what a set of equations costs, in looks at an entry
constexpr size_t kEnough = 8;

int64_t distance(const UpperTable& rest, const std::pair<size_t, size_t>& pair) {
  return rest.at[pair.second] - rest.at[pair.first];
}

class LastMode {
 public:
  LastMode(const UpperTable& rest, int64_t& steps) : rest_(rest), steps_(steps) {}

  // A last mode has one stride for all entries: index == (value above the boundaries)*stride +
  // (what the digits below give). So each pair of neighbours is an equation, and which of them
  // contradict says where a boundary must lie: between two neighbours whose equation fails, for
  // only a boundary there makes their parts differ.
  Obstruction obstruction() {
    steps_ -= kStepsToBegin;
    IntegerEquations equations(rest_.width);
    Obstruction result;
    if (!require_chosen(equations, result.apart)) return result;
    if (auto apart = decide(equations)) {
      result.apart.insert(result.apart.end(), apart->begin(), apart->end());
      std::sort(result.apart.begin(), result.apart.end());
      result.apart.erase(std::unique(result.apart.begin(), result.apart.end()), result.apart.end());
    } else {
      result.apart.clear();
    }
    result.decided = std::move(decided_);
    return result;
  }

 private:
  // The equations of neighbours among those that are chosen. The ones that fixed an unknown are
  // `needed`; false if one contradicts these, then the last of them.
  bool require_chosen(IntegerEquations& equations, Neighbours& needed) {
    Neighbours all;
    size_t last = 0;
    for (size_t i = 1; i < rest_.at.size(); ++i) {
      if (!rest_.is_chosen(i)) continue;
      all.emplace_back(last, i);
      last = i;
    }
    // Near pairs first: a short pair that is apart leaves fewer places for the boundary.
    std::stable_sort(all.begin(), all.end(), [&](const auto& x, const auto& y) {
      return distance(rest_, x) < distance(rest_, y);
    });
    Line line(rest_);
    for (const auto& pair : all) {
      const size_t free = equations.free().size();
      steps_ -= static_cast<int64_t>(8 + rest_.width * (1 + free));
      const bool holds = line.between(pair.first, pair.second).holds(equations);
      if (!holds || equations.free().size() < free) needed.push_back(pair);
      if (!holds) return false;
    }
    return true;
  }

  // The pairs that keep the mode from giving all, besides those that the equations come from;
  // nothing if it does.
  std::optional<Neighbours> decide(const IntegerEquations& equations) {
    ask();
    std::optional<std::pair<size_t, size_t>> nearest;
    Candidates candidates(rest_, steps_);
    Line line(rest_);
    std::vector<std::optional<int64_t>> steps(rest_.at.size());  // from the one before
    Indices left = rest_.choices[0];
    for (size_t i = 1; i < rest_.at.size(); ++i) {
      steps_ -= static_cast<int64_t>(rest_.width * (1 + equations.free().size()));
      // Where the equations determine the step from one entry to the next, the indices must follow
      // it: `left` are the choices of the entry that a chain of steps still reaches.
      steps[i] = line.between(i - 1, i).left_by(equations);
      if (!steps[i]) {
        candidates.add({i - 1, i}, rest_.choices[i - 1], 0, line.all_left_by(equations));
        left = rest_.choices[i];
        continue;
      }
      steps_ -= static_cast<int64_t>(count(left));
      left = together(rest_.choices[i], left, checked_sub(0, *steps[i]));
      // No choice is left: somewhere in the window up to i there is a boundary.
      if (!left || !left->empty()) continue;
      const std::pair<size_t, size_t> window{begin_of_window(steps, i), i};
      if (!nearest || distance(rest_, window) < distance(rest_, *nearest)) nearest = window;
      left = rest_.choices[i];
    }
    if (nearest) return Neighbours{*nearest};
    if (candidates.none()) return std::nullopt;
    // No contradiction yet, but open differences: each is tried, and all of them must fail for
    // there to be an obstruction.
    const auto form = *candidates.fewest(kEnough, SIZE_MAX);
    const auto [first, second] = form.pair;
    Neighbours all = form.pairs;
    for (const int64_t difference : form.differences) {
      steps_ -= kStepsToBegin;
      if (steps_ < 0) return all;
      IntegerEquations next = equations;
      if (!line.between(first, second).holds(next, difference)) continue;
      decided_.push_back(
          {rest_.is_chosen(first) ? 0 : rest_.values[first], rest_.values[second], difference});
      const auto apart = decide(next);
      if (!apart) return std::nullopt;
      decided_.pop_back();
      all.insert(all.end(), apart->begin(), apart->end());
    }
    return all;
  }

  // The last entry from which on nothing is left at i.
  size_t begin_of_window(const std::vector<std::optional<int64_t>>& steps, size_t i) {
    Indices left = rest_.choices[i];
    size_t first = i;
    do {
      steps_ -= static_cast<int64_t>(count(left));
      left = together(rest_.choices[first - 1], left, *steps[first]);
      --first;
    } while (first > 0 && (!left || !left->empty()));
    return first;
  }

  const UpperTable& rest_;
  int64_t& steps_;
  std::vector<Difference> decided_;
};

}  // namespace

Obstruction obstruction(const UpperTable& rest, int64_t& steps) {
  return LastMode(rest, steps).obstruction();
}

}  // namespace lay
