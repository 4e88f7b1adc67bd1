#include "frontend/algebra/inverse_search/cut_modular.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/support/interruption.h"

namespace lay {
namespace {

constexpr size_t kMostFailed = 1 << 18;

// Whether a mode of this extent leaves both in one part.
bool stay_together(int64_t first, int64_t second, int64_t extent) {
  return first / extent == second / extent;
}

}  // namespace

ModularChains::ModularChains(int32_t prime, std::vector<int64_t> parts, std::vector<int32_t> due)
    : prime_(prime) {
  for (const int64_t part : parts) common_ = gcd(common_, part);
  whole_ = {std::move(parts), 1, std::move(due)};
}

ModularChains::End ModularChains::run(const Serves& serves, int64_t& steps) {
  serves_ = &serves;
  steps_ = steps;
  ended_ = false;
  const bool served = descend(whole_, 1);
  steps = steps_;
  if (served) return End::served;
  return ended_ ? End::ended : End::exhausted;
}

// The mode above the cut gives what is due at the second more than at the first, its stride being
// the last unknown.
bool ModularChains::require_between(Congruences& equations, const Parts& parts, size_t first,
                                    size_t second) {
  const int32_t *from = parts.of(first), *to = parts.of(second);
  equation_.resize(parts.width + 1);
  equation_[0] = (from[0] - to[0] + prime_) % prime_;
  for (size_t k = 1; k < parts.width; ++k) equation_[k] = (to[k] - from[k] + prime_) % prime_;
  equation_.back() = residue(parts.at[first] - parts.at[second], prime_);
  steps_ -= static_cast<int64_t>(parts.width) * equations.cost() / 2 + 1;
  return equations.require(equation_);
}

// Neighbours, some two of which have a cut between them; none: a last mode gives all.
Neighbours ModularChains::obstacle(const Parts& parts) {
  std::vector<size_t> order(parts.at.size() - 1);
  std::iota(order.begin(), order.end(), size_t{1});
  const auto distance = [&](size_t i) { return parts.at[i] - parts.at[i - 1]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t x, size_t y) { return distance(x) < distance(y); });
  steps_ -= 4 * std::ssize(order);
  Congruences equations(prime_, parts.width + 1);
  Neighbours needed;
  for (const size_t i : order) {
    const size_t before = equations.rank();
    const bool holds = require_between(equations, parts, i - 1, i);
    if (!holds || equations.rank() > before) needed.emplace_back(i - 1, i);
    if (!holds) return needed;
  }
  return {};
}

bool ModularChains::descend(const Parts& parts, int64_t product) {
  ask();
  const Neighbours apart = obstacle(parts);
  if (apart.empty()) {
    if ((*serves_)(extents_)) return true;
    ended_ = true;
    return false;
  }
  Digest digest;
  digest.mix(common_ % product == 0 && !extents_.empty() ? extents_.back() : 0);
  digest.mix(static_cast<int64_t>(parts.width));
  for (const int64_t at : parts.at) digest.mix(at);
  for (const int32_t number : parts.numbers) digest.mix(number);
  if (failed_.count(digest) != 0) return false;
  const bool ended = std::exchange(ended_, false);
  for (const int64_t extent : primes_between(parts.at, apart, steps_)) {
    if (steps_ < 0) break;
    if (go_on(parts, extent, product)) return true;
  }
  ended_ |= steps_ < 0;
  if (!ended_ && failed_.size() < kMostFailed) failed_.insert(digest);
  ended_ |= ended;
  return false;
}

bool ModularChains::go_on(const Parts& parts, int64_t extent, int64_t product) {
  if (!extents_.empty() && extent < extents_.back() && common_ % product == 0 &&
      common_ / product % extent == 0) {
    return false;  // the same in another order
  }
  Congruences equations(prime_, parts.width + 1);
  for (size_t i = 1; i < parts.at.size(); ++i) {
    --steps_;
    if (!stay_together(parts.at[i - 1], parts.at[i], extent)) continue;
    if (!require_between(equations, parts, i - 1, i)) return false;
  }
  if (has_alike(parts.at, extent, steps_)) return false;
  extents_.push_back(extent);
  const bool served = descend(above(parts, extent, equations.solutions()), product * extent);
  extents_.pop_back();
  return served;
}

// What the modes above the next cut have to give, whichever of the solutions the modes below it
// are.
ModularChains::Parts ModularChains::above(const Parts& parts, int64_t extent,
                                          const Congruences::Solutions& solutions) {
  Parts next;
  next.width = 1 + solutions.free.size();
  const auto sum = [&](size_t i, int32_t start, const std::vector<int32_t>& unknowns) {
    const int32_t* numbers = parts.of(i);
    for (size_t k = 1; k < parts.width; ++k)
      start = (start + unknowns[k - 1] * numbers[k]) % prime_;
    return (start + (prime_ - residue(parts.at[i] % extent, prime_)) * unknowns.back()) % prime_;
  };
  for (size_t i = 0; i < parts.at.size(); ++i) {
    if (i > 0 && stay_together(parts.at[i - 1], parts.at[i], extent)) continue;
    next.at.push_back(parts.at[i] / extent);
    next.numbers.push_back(sum(i, parts.of(i)[0], solutions.particular));
    for (const auto& free : solutions.free) next.numbers.push_back(sum(i, 0, free));
  }
  steps_ -= static_cast<int64_t>(next.at.size() * next.width * (parts.width + next.width) / 4);
  reduce(next);
  return next;
}

// Unknowns of which each is alone in some part, and none that changes nothing: the same for all
// that is the same.
void ModularChains::reduce(Parts& parts) {
  const size_t width = parts.width, count = parts.at.size();
  size_t kept = 1;
  for (size_t i = 0; i < count && kept < width; ++i) {
    const int32_t* numbers = parts.of(i);
    const auto* one =
        std::find_if(numbers + kept, numbers + width, [](int32_t number) { return number != 0; });
    if (one == numbers + width) continue;
    const auto pivot = static_cast<size_t>(one - numbers);
    const int32_t inverse = inverse_modulo(*one, prime_);
    std::vector<int32_t> times(numbers, numbers + width);
    std::swap(times[pivot], times[kept]);
    for (size_t j = 0; j < count; ++j) {
      int32_t* row = parts.numbers.data() + j * width;
      std::swap(row[pivot], row[kept]);
      row[kept] = row[kept] * inverse % prime_;
      if (row[kept] == 0) continue;
      for (size_t k = 0; k < width; ++k) {
        if (k != kept) row[k] = (row[k] + (prime_ - times[k]) * row[kept]) % prime_;
      }
    }
    ++kept;
  }
  if (kept == width) return;
  std::vector<int32_t> numbers;
  numbers.reserve(count * kept);
  for (size_t i = 0; i < count; ++i) numbers.insert(numbers.end(), parts.of(i), parts.of(i) + kept);
  parts.width = kept;
  parts.numbers = std::move(numbers);
}

}  // namespace lay
