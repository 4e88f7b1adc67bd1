// Whether an injective layout has a left inverse: every sequence of extents, and for each the linear equations that its
// strides have to solve, in rational numbers.

#include <algorithm>
#include <numeric>

#include "tests/laws/oracle.h"

namespace laws {
namespace {

struct Equation {
  std::vector<int64_t> digits;  // times the unknown strides
  int64_t due;
};

void reduce(Equation& e) {
  int64_t common = e.due < 0 ? -e.due : e.due;
  for (const int64_t d : e.digits) {
    int64_t x = d < 0 ? -d : d;
    while (x != 0) std::swap(common %= x, x);
  }
  if (common < 2) return;
  for (int64_t& d : e.digits) d /= common;
  e.due /= common;
}

// Whether integers solve all: row by row, each new equation is reduced by those before it.
bool solvable(const std::vector<Equation>& equations, size_t unknowns) {
  std::vector<Equation> rows;
  std::vector<size_t> pivots;
  for (Equation e : equations) {
    for (size_t r = 0; r < rows.size(); ++r) {
      const int64_t a = e.digits[pivots[r]], b = rows[r].digits[pivots[r]];
      if (a == 0) continue;
      for (size_t k = 0; k < unknowns; ++k) e.digits[k] = e.digits[k] * b - rows[r].digits[k] * a;
      e.due = e.due * b - rows[r].due * a;
      reduce(e);
    }
    const auto pivot = std::find_if(e.digits.begin(), e.digits.end(), [](int64_t d) { return d != 0; });
    if (pivot == e.digits.end()) {
      if (e.due != 0) return false;
      continue;
    }
    pivots.push_back(static_cast<size_t>(pivot - e.digits.begin()));
    rows.push_back(e);
  }
  // Free strides are 0; those determined must be integers.
  std::vector<int64_t> solution(unknowns, 0);
  for (size_t r = rows.size(); r-- > 0;) {
    int64_t rest = rows[r].due;
    for (size_t k = 0; k < unknowns; ++k) {
      if (k != pivots[r]) rest -= rows[r].digits[k] * solution[k];
    }
    if (rest % rows[r].digits[pivots[r]] != 0) return false;
    solution[pivots[r]] = rest / rows[r].digits[pivots[r]];
  }
  return true;
}

bool solves(const std::vector<int64_t>& values, const std::vector<int64_t>& extents) {
  std::vector<Equation> equations;
  for (size_t i = 0; i < values.size(); ++i) {
    Equation e{{}, static_cast<int64_t>(i)};
    int64_t rest = values[i];
    for (const int64_t extent : extents) {
      e.digits.push_back(rest % extent);
      rest /= extent;
    }
    e.digits.push_back(rest);
    equations.push_back(std::move(e));
  }
  return solvable(equations, extents.size() + 1);
}

bool search(const std::vector<int64_t>& values, int64_t largest, int64_t product, std::vector<int64_t>& extents) {
  if (solves(values, extents)) return true;
  for (int64_t extent = 2; product * extent <= largest; ++extent) {
    extents.push_back(extent);
    if (search(values, largest, product * extent, extents)) return true;
    extents.pop_back();
  }
  return false;
}

}  // namespace

bool can_left_invert(const lay::Layout& a) {
  const std::vector<int64_t> values = Plain(a).values();
  const int64_t largest = *std::max_element(values.begin(), values.end());
  std::vector<int64_t> extents;
  return search(values, largest, 1, extents);
}

}  // namespace laws
