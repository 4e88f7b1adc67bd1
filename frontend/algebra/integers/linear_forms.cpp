#include "frontend/algebra/integers/linear_forms.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/integers/integer_equations.h"
#include "frontend/algebra/integers/polynomial.h"

namespace lay {
namespace {

constexpr int kRounds = 64;
// Rows are shortened from kLong on, so that products of two entries stay far from 64 bits; sums
// below kSafe need no check for overflow.
constexpr int64_t kLong = int64_t{1} << 24, kSafe = int64_t{1} << 62;

// A number whose magnitude is one too.
int64_t within(int64_t x) {
  checked_sub(0, x);
  return x;
}

}  // namespace

LinearForms::LinearForms(size_t unknowns, size_t forms)
    : unknowns_(unknowns),
      width_(unknowns + forms),
      numbers_(width_ * (unknowns + 1)),
      most_(unknowns + 1, 1) {
  // Row 0 is the particular solution, rows 1, 2, ... are the free vectors; at first every unknown
  // is free. A row holds its unknowns, then the values of the forms there.
  for (size_t k = 0; k < unknowns; ++k) row(k + 1)[k] = 1;
}

void LinearForms::set(size_t form, int64_t constant, std::span<const int64_t> factors) {
  const auto put = [&](size_t r, int64_t number) {
    row(r)[unknowns_ + form] = number;
    most_[r] = std::max(most_[r], number < 0 ? checked_sub(0, number) : number);
  };
  put(0, constant);
  for (size_t k = 0; k < unknowns_; ++k) put(k + 1, factors[k]);
}

int64_t LinearForms::factor(size_t form) const {
  int64_t common = 0;
  for (size_t k = 0; k < free() && common != 1; ++k) {
    if (const int64_t own = step(k, form); own != 0) common = gcd(common, own);
  }
  return common;
}

int64_t LinearForms::largest(size_t r) const {
  const auto [least, most] = std::minmax_element(row(r), row(r) + width_);
  return std::max(checked_sub(0, *least), *most);
}

// Adds without a check for each number where a bound on the whole row shows that nothing overflows;
// the bound is made exact once before it is given up.
void LinearForms::add(size_t to, int64_t times, size_t from) {
  int64_t *x = row(to), reached;
  const int64_t* y = row(from);
  const auto bound = [&] {
    return !__builtin_mul_overflow(std::abs(times), most_[from], &reached) &&
           !__builtin_add_overflow(reached, most_[to], &reached) && reached < kSafe;
  };
  bool is_safe = times > -kSafe && bound();
  if (!is_safe) {
    most_[from] = largest(from);
    most_[to] = largest(to);
    is_safe = times > -kSafe && bound();
  }
  if (is_safe) {
    for (size_t k = 0; k < width_; ++k) x[k] += times * y[k];
    most_[to] = reached;
    return;
  }
  for (size_t k = 0; k < width_; ++k) x[k] = checked_add(x[k], checked_mul(times, y[k]));
  most_[to] = largest(to);
}

// The last row takes its place: the order of free rows does not matter.
void LinearForms::remove(size_t r) {
  if (r + 1 < most_.size()) {
    std::copy_n(row(most_.size() - 1), width_, row(r));
    most_[r] = most_.back();
  }
  most_.pop_back();
  numbers_.resize(width_ * most_.size());
}

// Euclid's algorithm on the steps of the form leaves one of the free rows that changes it, by their
// common divisor: which, or 0 where none changes it.
size_t LinearForms::gather(size_t form) {
  const size_t at = unknowns_ + form;
  while (true) {
    size_t least = 0, count = 0;
    for (size_t r = 1; r < most_.size(); ++r) {
      if (row(r)[at] == 0) continue;
      ++count;
      if (least == 0 || std::abs(row(r)[at]) < std::abs(row(least)[at])) least = r;
    }
    if (count <= 1) return least;
    for (size_t r = 1; r < most_.size(); ++r) {
      // One step of Euclid's algorithm on all rows at once, by the least of them.
      const int64_t times = row(r)[at] / row(least)[at];
      if (r != least && times != 0) add(r, -times, least);
    }
  }
}

bool LinearForms::require(size_t form, int64_t value) {
  const int64_t missing = within(checked_sub(value, this->value(form)));
  const size_t one = gather(form);
  if (one == 0) return missing == 0;
  const int64_t step = row(one)[unknowns_ + form];
  // Only multiples of `step` can be added to the form's value.
  if (missing % step != 0) return false;
  add(0, missing / step, one);
  // The vector that changed the form is used up; all others leave it as it is.
  remove(one);
  shorten();
  return true;
}

bool LinearForms::require_difference(size_t form, size_t less, int64_t value) {
  // The difference takes the place of the form for a while, and is then undone.
  for (size_t r = 0; r < most_.size(); ++r) {
    int64_t& number = row(r)[unknowns_ + form];
    number = within(checked_sub(number, row(r)[unknowns_ + less]));
    most_[r] = std::max(most_[r], std::abs(number));
  }
  if (!require(form, value)) return false;
  for (size_t r = 0; r < most_.size(); ++r) {
    int64_t& number = row(r)[unknowns_ + form];
    number = within(checked_add(number, row(r)[unknowns_ + less]));
    most_[r] = std::max(most_[r], std::abs(number));
  }
  return true;
}

// t*step + u*modulus == missing: one t in each `period` of them.
bool LinearForms::require_modulo(size_t form, int64_t value, int64_t modulus) {
  const int64_t missing = within(checked_sub(value, this->value(form)));
  const size_t one = gather(form);
  if (one == 0) return missing % modulus == 0;
  IntegerEquations line(2);
  const int64_t both[] = {row(one)[unknowns_ + form], modulus};
  if (!line.require(both, missing)) return false;
  const int64_t period = std::abs(line.free()[0][0]);
  int64_t times = line.particular()[0] % period;
  if (times > period / 2) times -= period;
  if (times < -(period / 2)) times += period;
  add(0, times, one);
  // Only each `period`-th multiple of the vector keeps the form's value modulo `modulus`: the
  // vector becomes period times itself.
  if (period > 1) add(one, period - 1, one);
  shorten();
  return true;
}

long double LinearForms::dot(size_t r, size_t by) const {
  const int64_t *x = row(r), *y = row(by);
  long double sum = 0;
  for (size_t k = 0; k < unknowns_; ++k)
    sum += static_cast<long double>(x[k]) * static_cast<long double>(y[k]);
  return sum;
}

// A row less the multiple of another that leaves its unknowns shortest. False if that is the row.
// The step of the Gauss lattice reduction, rounded to the nearest multiple: a heuristic that needs
// no exactness, since any integer combination spans the same lattice.
bool LinearForms::shorten_by(size_t r, size_t by) {
  const long double times = std::round(dot(r, by) / dot(by, by));
  if (times == 0 || std::abs(times) > 0x1p61L) return false;
  add(r, -static_cast<int64_t>(times), by);
  return true;
}

// Free rows are free in other combinations too: where numbers are large, shorter ones.
void LinearForms::shorten() {
  const auto is_long = [&](size_t r) {
    return std::any_of(row(r), row(r) + unknowns_,
                       [](int64_t n) { return n > kLong || n < -kLong; });
  };
  bool shorter = false;
  for (size_t r = 0; r < most_.size() && !shorter; ++r) shorter = is_long(r);
  for (int round = 0; round < kRounds && shorter; ++round) {
    shorter = false;
    for (size_t i = 1; i < most_.size(); ++i) {
      for (size_t j = 1; j < most_.size(); ++j) shorter |= i != j && shorten_by(i, j);
    }
    for (size_t j = 1; j < most_.size(); ++j) shorter |= shorten_by(0, j);
  }
}

}  // namespace lay
