// An oracle for left inverses of a layout: every sequence of extents, every choice of an index for
// a value that is taken more than once, and for each the linear equations that the strides have to
// solve in integers.

#include <algorithm>
#include <cstdlib>
#include <map>

#include "tests/laws/oracle.h"

namespace laws {
namespace {

struct System {
  std::vector<std::vector<int64_t>> rows;  // times the unknown strides
  std::vector<int64_t> expected;
};

// Returns true if integers solve all. Columns are subtracted from one another, which changes the
// unknowns and not whether there are some, until each row has one nonzero number right of those
// that earlier rows use.
bool solvable(System s) {
  const size_t unknowns = s.rows.empty() ? 0 : s.rows[0].size();
  std::vector<int64_t> solved;  // the unknowns that are fixed so far
  const auto subtract = [&](size_t from, size_t column, int64_t times) {
    for (auto& row : s.rows) row[from] -= times * row[column];
  };
  for (size_t r = 0; r < s.rows.size(); ++r) {
    auto& row = s.rows[r];
    const size_t first = solved.size();
    for (size_t k = first + 1; k < unknowns; ++k) {
      while (row[k] != 0) {
        subtract(first, k, row[first] / row[k]);
        for (auto& other : s.rows) std::swap(other[first], other[k]);
      }
    }
    int64_t rest = s.expected[r];
    for (size_t k = 0; k < first; ++k) rest -= row[k] * solved[k];
    if (first == unknowns || row[first] == 0) {
      if (rest != 0) return false;
      continue;
    }
    if (rest % row[first] != 0) return false;
    solved.push_back(rest / row[first]);
  }
  return true;
}

using Choices =
    std::map<int64_t, std::vector<int64_t>>;  // by value: what the inverse may give there

// One index after another, as long as there are strides for those chosen so far.
bool choose(System& s, const std::vector<std::vector<int64_t>>& rows, const Choices& choices,
            Choices::const_iterator next) {
  if (next == choices.end()) return true;
  s.rows.push_back(rows[s.rows.size()]);
  for (const int64_t index : next->second) {
    s.expected.push_back(index);
    if (solvable(s) && choose(s, rows, choices, std::next(next))) return true;
    s.expected.pop_back();
  }
  s.rows.pop_back();
  return false;
}

bool solves(const Choices& choices, const std::vector<int64_t>& extents) {
  std::vector<std::vector<int64_t>> rows;
  for (const auto& [value, indices] : choices) {
    int64_t rest = value;
    std::vector<int64_t> row;
    for (const int64_t extent : extents) {
      row.push_back(rest % extent);
      rest /= extent;
    }
    row.push_back(rest);
    rows.push_back(std::move(row));
  }
  System s;
  return choose(s, rows, choices, choices.begin());
}

bool search(const Choices& choices, int64_t product, std::vector<int64_t>& extents) {
  if (solves(choices, extents)) return true;
  for (int64_t extent = 2; product * extent <= choices.rbegin()->first; ++extent) {
    extents.push_back(extent);
    if (search(choices, product * extent, extents)) return true;
    extents.pop_back();
  }
  return false;
}

}  // namespace

bool can_left_invert(const lay::Layout& a) {
  const std::vector<int64_t> values = Plain(a).values();
  Choices choices;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    if (values[i] != 0) choices[std::abs(values[i])].push_back(values[i] < 0 ? -index : index);
  }
  for (const auto& [value, indices] : choices) {
    // R(-v) is -R(v), and one of the two would be no index.
    const auto [low, high] = std::minmax_element(indices.begin(), indices.end());
    if (*low < 0 && *high > 0) return false;
  }
  if (choices.empty()) return true;
  std::vector<int64_t> extents;
  return search(choices, 1, extents);
}

}  // namespace laws
