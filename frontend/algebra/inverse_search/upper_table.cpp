#include "frontend/algebra/inverse_search/upper_table.h"

#include <algorithm>

#include "frontend/algebra/integers/int.h"

namespace lay {
namespace {

constexpr int64_t kZero = 0;

// Returns true if no stride of a mode of extent `n` (0: of a last mode) gives what is expected,
// where nothing else is unknown: most extents fail by this, and soon.
// Two entries whose part above the mode is the same, value/n, differ by their digits alone:
// (difference of indices) == stride * (difference of values). The first such pair gives the stride,
// and every other pair must agree.
bool is_contradicted(const UpperTable& rest, int64_t n, int64_t& steps) {
  std::optional<int64_t> stride;
  size_t first = 0;
  int64_t end = n;  // of those with the same part above as the first
  for (size_t i = 1; i < rest.at.size(); ++i) {
    if (!rest.is_chosen(i)) continue;
    --steps;
    if (n != 0 && rest.at[i] >= end) {
      first = i;
      end = rest.at[i] - rest.at[i] % n;
      if (__builtin_add_overflow(end, n, &end)) return false;
      continue;
    }
    const int64_t distance = rest.at[i] - rest.at[first];
    int64_t expected, reached;
    if (__builtin_sub_overflow(rest.numbers[i], rest.numbers[first], &expected)) return false;
    if (!stride && expected % distance != 0) return true;
    if (!stride) stride = expected / distance;
    if (__builtin_mul_overflow(*stride, distance, &reached) || reached != expected) return true;
  }
  return false;
}

}  // namespace

Line& Line::between(size_t first, size_t second) {
  const int64_t *from = rest_.of(first), *to = rest_.of(second);
  // Constants go to the right side of the equation, and the unknown strides stay on the left.
  for (size_t k = 1; k < rest_.width; ++k) factors_[k - 1] = checked_sub(to[k], from[k]);
  factors_.back() = checked_sub(rest_.at[first], rest_.at[second]);
  expected_ = checked_sub(from[0], to[0]);
  return *this;
}

bool Line::holds(IntegerEquations& equations, int64_t difference) const {
  return equations.require(factors_, checked_sub(expected_, difference));
}

std::optional<int64_t> Line::left_by(const IntegerEquations& equations) const {
  int64_t value;
  if (!equations.determines(factors_, value)) return std::nullopt;
  return checked_sub(expected_, value);
}

IntegerEquations::Left Line::all_left_by(const IntegerEquations& equations) const {
  IntegerEquations::Left left = equations.left_of(factors_);
  left.value = checked_sub(expected_, left.value);
  return left;
}

void UpperTable::add(int64_t value, std::vector<int64_t> indices) {
  at.push_back(value);
  values.push_back(value);
  const bool unique = indices.size() == 1;
  numbers.push_back(unique ? indices[0] : 0);
  std::sort(indices.begin(), indices.end());
  choices.push_back(unique ? nullptr
                           : std::make_shared<const std::vector<int64_t>>(std::move(indices)));
}

bool is_ruled_out(const UpperTable& rest, int64_t n, int64_t& steps) {
  return rest.width == 1 && is_contradicted(rest, n, steps);
}

std::optional<UpperTable> above(const UpperTable& rest, int64_t n, int64_t& steps) {
  std::optional<UpperTable> found;
  if (is_ruled_out(rest, n, steps)) return found;
  each_above(rest, n, steps, 1, [&](UpperTable next) {
    found = std::move(next);
    return true;
  });
  return found;
}

// An unknown that no entry depends on any more would only make every later equation longer.
UpperTable without_idle(UpperTable rest) {
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

std::span<const int64_t> listed(const Indices& indices) {
  return indices ? std::span<const int64_t>(*indices) : std::span(&kZero, 1);
}

size_t count(const Indices& indices) {
  return indices ? indices->size() : 1;
}

// Both lists ascend: one pass of a merge.
Indices together(const Indices& first, const Indices& second, int64_t difference) {
  std::vector<int64_t> both;
  const std::span<const int64_t> from = listed(first), to = listed(second);
  auto next = to.begin();
  for (const int64_t index : from) {
    const int64_t wanted = checked_add(index, difference);
    next = std::lower_bound(next, to.end(), wanted);
    if (next == to.end()) break;
    if (*next == wanted) both.push_back(index);
  }
  if (both.size() == from.size()) return first;
  return std::make_shared<const std::vector<int64_t>>(std::move(both));
}

// The shorter list is walked, the longer one searched.
bool any_together(const Indices& first, const Indices& second, int64_t difference) {
  std::span<const int64_t> few = listed(first), many = listed(second);
  if (few.size() > many.size()) {
    std::swap(few, many);
    difference = checked_sub(0, difference);
  }
  return std::any_of(few.begin(), few.end(), [&](int64_t index) {
    return std::binary_search(many.begin(), many.end(), checked_add(index, difference));
  });
}

// The differences of all pairs, ascending and each once.
std::vector<int64_t> differences(const Indices& first, const Indices& second) {
  std::vector<int64_t> all;
  for (const int64_t to : listed(second)) {
    for (const int64_t from : listed(first)) all.push_back(checked_sub(to, from));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace lay
