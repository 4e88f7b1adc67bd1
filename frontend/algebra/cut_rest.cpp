#include "frontend/algebra/cut_rest.h"

#include <algorithm>
#include <bit>

#include "frontend/algebra/int.h"
#include "frontend/algebra/integer_equations.h"

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

using Neighbours = std::vector<std::pair<size_t, size_t>>;

// One stride more is unknown, and gives what two parts differ by: an equation for the unknowns and for it.
class Line {
 public:
  explicit Line(const Rest& rest) : rest_(rest), factors_(rest.width) {}

  Line& between(size_t first, size_t second) {
    const int64_t *from = rest_.of(first), *to = rest_.of(second);
    for (size_t k = 1; k < rest_.width; ++k) factors_[k - 1] = checked_sub(to[k], from[k]);
    factors_.back() = rest_.at[first] - rest_.at[second];
    due_ = checked_sub(from[0], to[0]);
    return *this;
  }
  bool holds(IntegerEquations& equations) const { return equations.require(factors_, due_); }
  // What the equations leave to be added to the second, if that is one number.
  std::optional<int64_t> left_by(const IntegerEquations& equations) const {
    int64_t value;
    if (!equations.determines(factors_, value)) return std::nullopt;
    return checked_sub(due_, value);
  }

 private:
  const Rest& rest_;
  std::vector<int64_t> factors_;
  int64_t due_ = 0;
};

// What the solutions of equations for the unknowns, and for one stride more, leave of the numbers of an entry.
void carry(const Rest& rest, size_t i, const IntegerEquations& equations, int64_t digit, Rest& next) {
  const int64_t* numbers = rest.of(i);
  const auto sum = [&](const std::vector<int64_t>& unknowns, int64_t start) {
    for (size_t k = 1; k < rest.width; ++k) start = checked_add(start, checked_mul(unknowns[k - 1], numbers[k]));
    return digit == 0 ? start : checked_sub(start, checked_mul(unknowns.back(), digit));
  };
  next.numbers.push_back(sum(equations.particular(), numbers[0]));
  for (const auto& vector : equations.free()) next.numbers.push_back(sum(vector, 0));
}

Rest without_entries(const IntegerEquations& equations) {
  Rest next;
  next.at.clear(), next.entries.clear(), next.numbers.clear();
  next.width = 1 + equations.free().size();
  return next;
}

// Entries that are not chosen yet, beside a chosen one of the same part that says what they must be: they are left out
// where they can be that. False if one cannot.
bool settle(Rest& rest, const ValueTable& table) {
  size_t kept = 0, last = 0;
  for (size_t i = 0; i < rest.at.size(); ++i) {
    if (rest.is_chosen(i)) {
      last = kept;
    } else if (rest.at[last] == rest.at[i]) {
      const int64_t *due = rest.of(last), *here = rest.of(i);
      if (std::equal(due + 1, due + rest.width, here + 1)) {
        const auto choices = table[rest.entries[i]].choices;
        if (std::find(choices.begin(), choices.end(), checked_sub(due[0], here[0])) == choices.end()) return false;
        continue;
      }
    }
    rest.at[kept] = rest.at[i];
    rest.entries[kept] = rest.entries[i];
    std::copy_n(rest.of(i), rest.width, rest.numbers.begin() + static_cast<std::ptrdiff_t>(kept * rest.width));
    ++kept;
  }
  rest.at.resize(kept);
  rest.entries.resize(kept);
  rest.numbers.resize(kept * rest.width);
  return true;
}

}  // namespace

void Rest::add(int64_t value, size_t entry, int64_t due) {
  at.push_back(value);
  entries.push_back(entry);
  numbers.push_back(due);
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

std::optional<Rest> above(const Rest& rest, const ValueTable& table, int64_t n, int64_t& steps) {
  if (rest.width == 1 && is_contradicted(rest, n, steps)) return std::nullopt;
  if (!rest.parities.empty() && is_odd(rest, n, steps)) return std::nullopt;
  steps -= kStepsToBegin;
  IntegerEquations equations(rest.width);
  const auto part = [&](size_t i) { return n == 0 ? 0 : rest.at[i] / n; };
  Line line(rest);
  std::vector<size_t> kept;
  size_t first = 0;  // of the chosen ones with the same part above
  for (size_t i = 0; i < rest.at.size(); ++i) {
    steps -= static_cast<int64_t>(rest.width * (1 + equations.free().size()));
    if (!rest.is_chosen(i)) {
      kept.push_back(i);
    } else if (i == 0 || part(i) != part(first)) {
      first = i;
      kept.push_back(i);
    } else if (!line.between(first, i).holds(equations)) {
      return std::nullopt;
    }
  }
  steps -= std::ssize(kept) * static_cast<int64_t>(rest.width * (1 + equations.free().size()));
  Rest next = without_entries(equations);
  next.stride = equations.particular().back();
  for (const auto& vector : equations.free()) {
    if (vector.back() != 0) next.stride.reset();
  }
  // A chosen one before others of its part.
  const auto goes_before = [&](size_t x, size_t y) {
    return std::pair(part(x), !rest.is_chosen(x)) < std::pair(part(y), !rest.is_chosen(y));
  };
  if (!std::is_sorted(kept.begin(), kept.end(), goes_before)) std::stable_sort(kept.begin(), kept.end(), goes_before);
  for (const size_t i : kept) {
    next.at.push_back(part(i));
    next.entries.push_back(rest.entries[i]);
    carry(rest, i, equations, n == 0 ? rest.at[i] : rest.at[i] % n, next);
  }
  if (!settle(next, table)) return std::nullopt;
  return next;
}

std::optional<Rest> chosen(const Rest& rest, size_t i, int64_t index) {
  Rest next = rest;
  int64_t& number = next.numbers[i * next.width];
  number = checked_add(number, index);
  next.entries[i] = Rest::kChosen;
  size_t other = i;  // the chosen one of the same part
  for (size_t k = i; k-- > 0 && next.at[k] == next.at[i];) {
    if (next.is_chosen(k)) other = k;
  }
  if (other == i) {  // goes before others of its part
    size_t front = i;
    while (front > 0 && next.at[front - 1] == next.at[i]) --front;
    const auto begin = [&](size_t k) { return next.numbers.begin() + static_cast<std::ptrdiff_t>(k * next.width); };
    std::rotate(begin(front), begin(i), begin(i + 1));
    const auto entry = next.entries.begin();
    std::rotate(entry + static_cast<std::ptrdiff_t>(front), entry + static_cast<std::ptrdiff_t>(i),
                entry + static_cast<std::ptrdiff_t>(i + 1));
    return next;
  }
  IntegerEquations equations(next.width);
  if (!Line(next).between(other, i).holds(equations)) return std::nullopt;
  Rest solved = without_entries(equations);
  for (size_t k = 0; k < next.at.size(); ++k) {
    if (k == i) continue;
    solved.at.push_back(next.at[k]);
    solved.entries.push_back(next.entries[k]);
    carry(next, k, equations, 0, solved);
  }
  return without_idle(std::move(solved));
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

namespace {

// Chosen parts that follow one another.
Neighbours all_neighbours(const Rest& rest) {
  Neighbours all;
  size_t last = 0;
  for (size_t i = 1; i < rest.at.size(); ++i) {
    if (!rest.is_chosen(i)) continue;
    all.emplace_back(last, i);
    last = i;
  }
  return all;
}

int64_t distance(const Rest& rest, const std::pair<size_t, size_t>& pair) {
  return rest.at[pair.second] - rest.at[pair.first];
}

// The equations of chosen neighbours. Those that fixed an unknown are `needed`; false if one contradicts these, then
// the last of them.
bool require_all(const Rest& rest, IntegerEquations& equations, Neighbours& needed, int64_t& steps) {
  Neighbours all = all_neighbours(rest);
  std::stable_sort(all.begin(), all.end(),
                   [&](const auto& x, const auto& y) { return distance(rest, x) < distance(rest, y); });
  Line line(rest);
  for (const auto& pair : all) {
    const size_t free = equations.free().size();
    steps -= static_cast<int64_t>(8 + rest.width * (1 + free));
    const bool holds = line.between(pair.first, pair.second).holds(equations);
    if (!holds || equations.free().size() < free) needed.push_back(pair);
    if (!holds) return false;
  }
  return true;
}

}  // namespace

Obstacle obstacle(const Rest& rest, const ValueTable& table, int64_t& steps) {
  steps -= kStepsToBegin;
  IntegerEquations equations(rest.width);
  Obstacle result;
  if (!require_all(rest, equations, result.apart, steps)) return result;
  std::optional<std::pair<size_t, size_t>> nearest;  // an entry that cannot be what the others say, and one beside it
  Line line(rest);
  size_t last = 0;
  for (size_t i = 1; i < rest.at.size(); ++i) {
    if (rest.is_chosen(i)) {
      last = i;
      continue;
    }
    steps -= static_cast<int64_t>(rest.width * (1 + equations.free().size()));
    const auto choices = table[rest.entries[i]].choices;
    const auto index = line.between(last, i).left_by(equations);
    if (!index) {
      if (!result.open || choices.size() < table[rest.entries[*result.open]].choices.size()) result.open = i;
      continue;
    }
    if (std::find(choices.begin(), choices.end(), *index) != choices.end()) continue;
    if (!nearest || rest.at[i] - rest.at[last] < distance(rest, *nearest)) nearest = {last, i};
  }
  if (nearest) {
    result.apart.push_back(*nearest);
  } else {
    result.apart.clear();
  }
  return result;
}

}  // namespace lay
