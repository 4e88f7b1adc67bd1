#include "frontend/algebra/inverse_search/cut_choices.h"

#include <algorithm>

#include "frontend/algebra/integers/int.h"

namespace lay {
namespace {

constexpr int64_t kZero = 0;

}  // namespace

std::span<const int64_t> listed(const Indices& indices) {
  return indices ? std::span<const int64_t>(*indices) : std::span(&kZero, 1);
}

size_t count(const Indices& indices) {
  return indices ? indices->size() : 1;
}

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
