#include "frontend/algebra/integer_equations.h"

#include <algorithm>
#include <cstdlib>

#include "frontend/algebra/int.h"

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

}  // namespace

IntegerEquations::IntegerEquations(size_t unknowns) : particular_(unknowns, 0) {
  for (size_t k = 0; k < unknowns; ++k) {
    free_.emplace_back(unknowns, 0);
    free_[k][k] = 1;
  }
}

// Along each free vector the sum changes by `steps`; Euclid's algorithm on them leaves one that changes it by their
// common divisor, and the others leave it alone.
bool IntegerEquations::require(std::span<const int64_t> factors, int64_t due) {
  const int64_t missing = within(checked_sub(due, product(factors, particular_)));
  std::vector<int64_t> steps;
  for (const auto& vector : free_) steps.push_back(within(product(factors, vector)));
  while (true) {
    size_t least = steps.size(), count = 0;
    for (size_t k = 0; k < steps.size(); ++k) {
      if (steps[k] == 0) continue;
      ++count;
      if (least == steps.size() || std::abs(steps[k]) < std::abs(steps[least])) least = k;
    }
    if (count == 0) return missing == 0;
    if (count == 1) {
      if (missing % steps[least] != 0) return false;
      add(particular_, missing / steps[least], free_[least]);
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(least));
      return true;
    }
    for (size_t k = 0; k < steps.size(); ++k) {
      const int64_t times = steps[k] / steps[least];
      if (k == least || times == 0) continue;
      add(free_[k], -times, free_[least]);
      steps[k] -= times * steps[least];
    }
  }
}

bool IntegerEquations::determines(std::span<const int64_t> factors, int64_t& value) const {
  value = product(factors, particular_);
  return std::all_of(free_.begin(), free_.end(), [&](const auto& vector) { return product(factors, vector) == 0; });
}

}  // namespace lay
