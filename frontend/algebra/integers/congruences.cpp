#include "frontend/algebra/integers/congruences.h"

#include <algorithm>

namespace lay {

int32_t residue(int64_t number, int64_t prime) {
  const int64_t rest = number % prime;
  return static_cast<int32_t>(rest < 0 ? rest + prime : rest);
}

// Euclid's algorithm: last*number == remainder, up to multiples of the prime.
int32_t inverse_modulo(int32_t number, int32_t prime) {
  int32_t before = 0, last = 1, above = prime, remainder = number;
  while (remainder > 1) {
    const int32_t times = above / remainder;
    above -= times * remainder, std::swap(above, remainder);
    before -= times * last, std::swap(before, last);
  }
  return last < 0 ? last + prime : last;
}

bool Congruences::require(std::vector<int32_t>& equation) {
  for (size_t r = 0; r < pivots_.size(); ++r) {
    const int32_t times = equation[pivots_[r]];
    if (times == 0) continue;
    const int32_t* row = rows_.data() + r * width_;
    for (size_t k = 0; k < width_; ++k)
      equation[k] = (equation[k] + (prime_ - times) * row[k]) % prime_;
  }
  const auto pivot = std::find_if(equation.begin() + 1, equation.end(),
                                  [](int32_t number) { return number != 0; });
  if (pivot == equation.end()) return equation[0] == 0;
  const int32_t inverse = inverse_modulo(*pivot, prime_);
  pivots_.push_back(static_cast<size_t>(pivot - equation.begin()));
  for (const int32_t number : equation) rows_.push_back(number * inverse % prime_);
  return true;
}

// The unknowns at the pivots, from the others.
std::vector<int32_t> Congruences::solve(std::vector<int32_t> unknowns, bool due) const {
  for (size_t r = pivots_.size(); r-- > 0;) {
    const int32_t* row = rows_.data() + r * width_;
    int32_t sum = due ? row[0] : 0;
    for (size_t k = 1; k < width_; ++k) {
      if (k != pivots_[r] && row[k] != 0)
        sum = (sum + (prime_ - row[k]) * unknowns[k - 1]) % prime_;
    }
    unknowns[pivots_[r] - 1] = sum;
  }
  return unknowns;
}

Congruences::Solutions Congruences::solutions() const {
  const std::vector<int32_t> none(width_ - 1);
  Solutions all{solve(none, true), {}};
  for (size_t k = 1; k < width_; ++k) {
    if (std::find(pivots_.begin(), pivots_.end(), k) != pivots_.end()) continue;
    std::vector<int32_t> one = none;
    one[k - 1] = 1;
    all.free.push_back(solve(std::move(one), false));
  }
  return all;
}

}  // namespace lay
