#include "frontend/algebra/integers/integer_equations.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "frontend/algebra/integers/int.h"

namespace lay {
namespace {

int64_t product(std::span<const int64_t> factors, const std::vector<int64_t>& x) {
  int64_t sum = 0;
  for (size_t k = 0; k < factors.size(); ++k) {
    if (factors[k] != 0 && x[k] != 0) sum = checked_add(sum, checked_mul(factors[k], x[k]));
  }
  return sum;
}

// x += times * y.
void add(std::vector<int64_t>& x, int64_t times, const std::vector<int64_t>& y) {
  for (size_t k = 0; k < x.size(); ++k) {
    if (y[k] != 0) x[k] = checked_add(x[k], checked_mul(times, y[k]));
  }
}

// A number whose magnitude is one too.
int64_t within(int64_t x) {
  checked_sub(0, x);
  return x;
}

constexpr int kRounds = 64;
constexpr int64_t kLong = int64_t{1} << 24;

bool is_long(const std::vector<int64_t>& x) {
  return std::any_of(x.begin(), x.end(), [](int64_t n) { return n > kLong || n < -kLong; });
}

long double dot(const std::vector<int64_t>& x, const std::vector<int64_t>& y) {
  long double sum = 0;
  for (size_t k = 0; k < x.size(); ++k)
    sum += static_cast<long double>(x[k]) * static_cast<long double>(y[k]);
  return sum;
}

// x less the multiple of y that leaves it shortest. False if that is x.
//     times = <x,y> / <y,y>, rounded: the integer multiple of y nearest to x's part along y
bool shorten_by(std::vector<int64_t>& x, const std::vector<int64_t>& y) {
  const long double times = std::round(dot(x, y) / dot(y, y));
  if (times == 0 || std::abs(times) > 0x1p62L) return false;
  add(x, -static_cast<int64_t>(times), y);
  return true;
}

}  // namespace

IntegerEquations::IntegerEquations(size_t unknowns) : particular_(unknowns, 0) {
  for (size_t k = 0; k < unknowns; ++k) {
    free_.emplace_back(unknowns, 0);
    free_[k][k] = 1;
  }
}

// Along each free vector the sum changes by `steps`; Euclid's algorithm on them leaves one that
// changes it by their common divisor, and the others leave it alone: which, or as many as there are
// where all leave it alone.
// Each round reduces every step modulo the least one, so the least one shrinks or all others are 0.
size_t IntegerEquations::gather(std::vector<int64_t>& steps) {
  while (true) {
    size_t least = steps.size(), count = 0;
    for (size_t k = 0; k < steps.size(); ++k) {
      if (steps[k] == 0) continue;
      ++count;
      if (least == steps.size() || std::abs(steps[k]) < std::abs(steps[least])) least = k;
    }
    if (count <= 1) return least;
    for (size_t k = 0; k < steps.size(); ++k) {
      const int64_t times = steps[k] / steps[least];
      if (k == least || times == 0) continue;
      add(free_[k], -times, free_[least]);
      steps[k] -= times * steps[least];
    }
  }
}

// Free vectors are free in other combinations too: where numbers are large, shorter ones.
void IntegerEquations::shorten() {
  if (!is_long(particular_) && !std::any_of(free_.begin(), free_.end(), is_long)) return;
  bool shorter = true;
  for (int round = 0; round < kRounds && shorter; ++round) {
    shorter = false;
    for (size_t i = 0; i < free_.size(); ++i) {
      for (size_t j = 0; j < free_.size(); ++j) shorter |= i != j && shorten_by(free_[i], free_[j]);
    }
    for (const auto& vector : free_) shorter |= shorten_by(particular_, vector);
  }
}

// All solutions so far are particular + integer combinations of the free vectors. One more equation
// is solved among the free vectors: Euclid's algorithm on its products with them leaves one vector
// that changes the sum, by their greatest common divisor.
bool IntegerEquations::require(std::span<const int64_t> factors, int64_t expected) {
  const int64_t missing = within(checked_sub(expected, product(factors, particular_)));
  std::vector<int64_t> steps;
  for (const auto& vector : free_) steps.push_back(within(product(factors, vector)));
  const size_t one = gather(steps);
  if (one == steps.size()) return missing == 0;
  if (missing % steps[one] != 0) return false;
  add(particular_, missing / steps[one], free_[one]);
  free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(one));
  shorten();
  return true;
}

// t*step + u*modulus == missing: one t in each `period` of them.
bool IntegerEquations::require_modulo(std::span<const int64_t> factors, int64_t expected,
                                      int64_t modulus) {
  const int64_t missing = within(checked_sub(expected, product(factors, particular_)));
  std::vector<int64_t> steps;
  for (const auto& vector : free_) steps.push_back(within(product(factors, vector)));
  const size_t one = gather(steps);
  if (one == steps.size()) return missing % modulus == 0;
  IntegerEquations line(2);
  const int64_t both[] = {steps[one], modulus};
  if (!line.require(both, missing)) return false;
  const int64_t period = std::abs(line.free_[0][0]);
  int64_t times = line.particular_[0] % period;
  if (times > period / 2) times -= period;
  if (times < -(period / 2)) times += period;
  add(particular_, times, free_[one]);
  for (int64_t& x : free_[one]) x = checked_mul(x, period);
  shorten();
  return true;
}

bool IntegerEquations::determines(std::span<const int64_t> factors, int64_t& value) const {
  value = product(factors, particular_);
  return std::all_of(free_.begin(), free_.end(),
                     [&](const auto& vector) { return product(factors, vector) == 0; });
}

IntegerEquations::Left IntegerEquations::left_of(std::span<const int64_t> factors) const {
  Left left{product(factors, particular_), {}};
  for (const auto& vector : free_) left.steps.push_back(product(factors, vector));
  return left;
}

bool IntegerEquations::Left::is_one() const {
  return std::all_of(steps.begin(), steps.end(), [](int64_t step) { return step == 0; });
}

}  // namespace lay
