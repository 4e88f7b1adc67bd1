#include "frontend/algebra/cut_rest.h"

#include <algorithm>
#include <bit>

#include "frontend/algebra/cut_candidates.h"
#include "frontend/algebra/cut_choices.h"
#include "frontend/algebra/int.h"
#include "frontend/algebra/interruption.h"

namespace lay {
namespace {

constexpr int64_t kStepsToBegin = 64;  // what a set of equations costs, in looks at an entry

// Whether no stride of a mode of extent `n` (0: of a last mode) gives what is due, where nothing else is unknown: what
// most extents fail by, and soon.
bool is_contradicted(const Rest& rest, int64_t n, int64_t& steps) {
  std::optional<int64_t> stride;
  size_t first = 0;
  int64_t end = n == 0 ? INT64_MAX : n;  // of those with the same part above as the first
  for (size_t i = 1; i < rest.at.size(); ++i) {
    if (!rest.is_chosen(i)) continue;
    --steps;
    if (rest.at[i] >= end) {
      first = i;
      end = rest.at[i] - rest.at[i] % n;
      if (__builtin_add_overflow(end, n, &end)) return false;
      continue;
    }
    const int64_t distance = rest.at[i] - rest.at[first];
    int64_t due, reached;
    if (__builtin_sub_overflow(rest.numbers[i], rest.numbers[first], &due)) return false;
    if (!stride && due % distance != 0) return true;
    if (!stride) stride = due / distance;
    if (__builtin_mul_overflow(*stride, distance, &reached) || reached != due) return true;
  }
  return false;
}

// Linear equations modulo 2, a bit for each number, the lowest for what is due: they rule out most extents at once.
class Parities {
 public:
  // False if no numbers solve them.
  bool require(uint64_t equation) {
    for (const auto& [row, pivot] : rows_) {
      if ((equation & pivot) != 0) equation ^= row;
    }
    if (equation > 1) rows_.emplace_back(equation, std::bit_floor(equation));
    return equation != 1;
  }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> rows_;
};

// Whether what is due of a mode of extent n > 0 has no solution modulo 2.
bool is_odd(const Rest& rest, int64_t n, int64_t& steps) {
  Parities equations;
  size_t first = 0;
  int64_t part = 0;
  for (size_t i = 1; i < rest.at.size(); ++i) {
    if (!rest.is_chosen(i)) continue;
    --steps;
    if (const int64_t own = rest.at[i] / n; own != part) {
      first = i;
      part = own;
    } else if (!equations.require(rest.parities[first] ^ rest.parities[i])) {
      return true;
    }
  }
  return false;
}

// What the solutions of equations for the unknowns, and for one stride more, leave of the numbers of an entry, with
// `more` on top.
void carry(const Rest& rest, size_t i, const IntegerEquations& equations, int64_t digit, int64_t more, Rest& next) {
  const int64_t* numbers = rest.of(i);
  const auto sum = [&](const std::vector<int64_t>& unknowns, int64_t start) {
    for (size_t k = 1; k < rest.width; ++k) start = checked_add(start, checked_mul(unknowns[k - 1], numbers[k]));
    return digit == 0 ? start : checked_sub(start, checked_mul(unknowns.back(), digit));
  };
  next.numbers.push_back(sum(equations.particular(), checked_add(numbers[0], more)));
  for (const auto& vector : equations.free()) next.numbers.push_back(sum(vector, 0));
}

// The ways to decide what the values of each part above a mode of extent n differ by. Equations leave many of the
// differences one value. Of the others the one with fewest candidates is tried with each, and then others follow.
class Ways {
 public:
  Ways(const Rest& rest, int64_t n, int64_t& steps, size_t few, const std::function<bool(Rest)>& take)
      : rest_(rest), n_(n), steps_(steps), few_(few), take_(take) {}

  bool run() {
    State state{IntegerEquations(rest_.width), {}, rest_.decided};
    Line line(rest_);
    for (size_t i = 0; i < rest_.at.size(); ++i) {
      steps_ -= static_cast<int64_t>(rest_.width * (1 + state.equations.free().size()));
      if (state.parts.empty() || part_of(i) != part_of(state.parts.back().first)) {
        state.parts.push_back({i, rest_.choices[i], 0, {}});
        continue;
      }
      Part& own = state.parts.back();
      if (!rest_.is_chosen(i)) {
        own.open.push_back(i);
      } else if (own.choices) {  // begins with one that is not
        own.open.push_back(std::exchange(own.first, i));
        own.choices = nullptr;
      } else if (!line.between(own.first, i).holds(state.equations)) {
        return false;
      }
    }
    return decide(std::move(state));
  }

 private:
  struct Part {
    size_t first;  // stands for it
    Indices choices;
    int64_t index;             // without choices: the one chosen
    std::vector<size_t> open;  // others, not yet compared with the first
  };
  struct State {
    IntegerEquations equations;
    std::vector<Part> parts;
    std::vector<Difference> decided;
  };

  int64_t part_of(size_t i) const { return n_ == 0 ? 0 : rest_.at[i] / n_; }

  // The choices of one part go together where the equations leave one number for what they differ by. False if they
  // cannot.
  bool join_all(State& state) {
    Line line(rest_);
    for (Part& part : state.parts) {
      size_t kept = 0;
      for (size_t k = 0; k < part.open.size(); ++k) {
        const size_t i = part.open[k];
        steps_ -= static_cast<int64_t>(rest_.width * (1 + state.equations.free().size()));
        const auto left = line.between(part.first, i).all_left_by(state.equations);
        if (left.is_one()) {
          steps_ -= static_cast<int64_t>(count(part.choices));
          if (!join(part, i, left.value, state.decided)) return false;
          continue;
        }
        part.open[kept++] = i;
      }
      part.open.resize(kept);
    }
    return true;
  }

  // Both, until neither says more.
  bool narrow(State& state) {
    while (true) {
      if (!join_all(state)) return false;
      bool narrower = false;
      for (const Part& part : state.parts) {
        for (const size_t i : part.open) {
          const auto narrowed = lay::narrow(rest_, {part.first, i}, part.choices, part.choices ? 0 : part.index,
                                            state.equations, state.decided, steps_);
          if (narrowed == Narrowed::to_none) return false;
          narrower |= narrowed == Narrowed::yes;
        }
      }
      if (!narrower) return true;
      if (steps_ < 0) return false;
    }
  }

  bool decide(State state) {
    ask();
    if (!narrow(state)) return false;
    Candidates candidates(rest_, steps_);
    Line line(rest_);
    for (const Part& part : state.parts) {
      size_t last = part.first;
      for (const size_t i : part.open) {
        candidates.add({part.first, i}, part.choices, part.choices ? 0 : part.index, state.equations);
        if (last != part.first) candidates.add({last, i}, rest_.choices[last], 0, state.equations);
        last = i;
      }
    }
    if (candidates.none()) return take_(rest_above(state));
    const auto fewest = candidates.fewest();
    if (fewest.differences.size() > few_) return take_(rest_above(state));
    for (const int64_t difference : fewest.differences) {
      if (steps_ < 0) return false;
      State next = state;
      steps_ -= static_cast<int64_t>(kStepsToBegin + rest_.at.size());
      if (!line.between(fewest.pair.first, fewest.pair.second).holds(next.equations, difference - fewest.index))
        continue;
      const bool one = !fewest.choices;
      next.decided.push_back({one ? 0 : rest_.values[fewest.pair.first], rest_.values[fewest.pair.second], difference});
      if (decide(std::move(next))) return true;
    }
    return false;
  }

  // The part's first goes with those choices of i that are `difference` more. False if there are none.
  bool join(Part& part, size_t i, int64_t difference, std::vector<Difference>& decided) {
    if (!part.choices) {
      const auto& choices = *rest_.choices[i];
      return std::binary_search(choices.begin(), choices.end(), checked_add(part.index, difference));
    }
    part.choices = together(part.choices, rest_.choices[i], difference);
    if (part.choices->empty()) return false;
    if (part.choices->size() > 1) return true;
    part.index = part.choices->front();
    part.choices = nullptr;
    decided.push_back({0, rest_.values[part.first], part.index});
    return true;
  }

  Rest rest_above(const State& state) {
    const IntegerEquations& equations = state.equations;
    steps_ -= std::ssize(state.parts) * static_cast<int64_t>(rest_.width * (1 + equations.free().size()));
    Rest next;
    next.at.clear(), next.values.clear(), next.choices.clear(), next.numbers.clear();
    next.width = 1 + equations.free().size();
    next.stride = equations.particular().back();
    for (const auto& vector : equations.free()) {
      if (vector.back() != 0) next.stride.reset();
    }
    for (const Part& part : state.parts) {
      const size_t i = part.first;
      next.at.push_back(part_of(i));
      next.values.push_back(rest_.values[i]);
      next.choices.push_back(part.choices);
      carry(rest_, i, equations, n_ == 0 ? rest_.at[i] : rest_.at[i] % n_, part.index, next);
      for (const size_t other : part.open) {
        next.at.push_back(part_of(i));
        next.values.push_back(rest_.values[other]);
        next.choices.push_back(rest_.choices[other]);
        carry(rest_, other, equations, n_ == 0 ? rest_.at[other] : rest_.at[other] % n_, 0, next);
      }
    }
    next.decided = state.decided;
    return next;
  }

  const Rest& rest_;
  int64_t n_;
  int64_t& steps_;
  size_t few_;
  const std::function<bool(Rest)>& take_;
};

}  // namespace

Line& Line::between(size_t first, size_t second) {
  const int64_t *from = rest_.of(first), *to = rest_.of(second);
  for (size_t k = 1; k < rest_.width; ++k) factors_[k - 1] = checked_sub(to[k], from[k]);
  factors_.back() = checked_sub(rest_.at[first], rest_.at[second]);
  due_ = checked_sub(from[0], to[0]);
  return *this;
}

bool Line::holds(IntegerEquations& equations, int64_t difference) const {
  return equations.require(factors_, checked_sub(due_, difference));
}

bool Line::holds_modulo(IntegerEquations& equations, int64_t difference, int64_t modulus) const {
  return equations.require_modulo(factors_, checked_sub(due_, difference), modulus);
}

std::optional<int64_t> Line::left_by(const IntegerEquations& equations) const {
  int64_t value;
  if (!equations.determines(factors_, value)) return std::nullopt;
  return checked_sub(due_, value);
}

IntegerEquations::Left Line::all_left_by(const IntegerEquations& equations) const {
  IntegerEquations::Left left = equations.left_of(factors_);
  left.value = checked_sub(due_, left.value);
  return left;
}

void Rest::add(int64_t value, std::vector<int64_t> indices) {
  at.push_back(value);
  values.push_back(value);
  const bool unique = indices.size() == 1;
  numbers.push_back(unique ? indices[0] : 0);
  std::sort(indices.begin(), indices.end());
  choices.push_back(unique ? nullptr : std::make_shared<const std::vector<int64_t>>(std::move(indices)));
}

void Rest::note_parities() {
  parities.clear();
  if (width == 1 || width > 62) return;
  for (size_t i = 0; i < at.size(); ++i) {
    uint64_t bits = static_cast<uint64_t>(at[i] & 1) << width;
    for (size_t k = 0; k < width; ++k) bits |= static_cast<uint64_t>(of(i)[k] & 1) << k;
    parities.push_back(bits);
  }
}

bool is_ruled_out(const Rest& rest, int64_t n, int64_t& steps) {
  return rest.width == 1 ? is_contradicted(rest, n, steps) : !rest.parities.empty() && is_odd(rest, n, steps);
}

bool each_above(const Rest& rest, int64_t n, int64_t& steps, size_t few, const std::function<bool(Rest)>& take) {
  steps -= kStepsToBegin;
  return Ways(rest, n, steps, few, take).run();
}

std::optional<Rest> above(const Rest& rest, int64_t n, int64_t& steps) {
  std::optional<Rest> found;
  if (is_ruled_out(rest, n, steps)) return found;
  each_above(rest, n, steps, 1, [&](Rest next) {
    found = std::move(next);
    return true;
  });
  return found;
}

Rest without_idle(Rest rest) {
  std::vector<size_t> kept{0};
  for (size_t k = 1; k < rest.width; ++k) {
    bool idle = true;
    for (size_t i = 0; i < rest.at.size() && idle; ++i) idle = rest.of(i)[k] == 0;
    if (!idle) kept.push_back(k);
  }
  if (kept.size() == rest.width) return rest;
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < rest.at.size(); ++i) {
    for (const size_t k : kept) numbers.push_back(rest.of(i)[k]);
  }
  rest.width = kept.size();
  rest.numbers = std::move(numbers);
  return rest;
}

}  // namespace lay
