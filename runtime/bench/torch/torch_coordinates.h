// Whole numbers that are made of indices and sizes, as coordinates and conditions have them:
//
//   X[n, 2*p + r - 1, c]          2*p + r - 1 is affine: 2 times p, 1 times r, and -1
//   K[b, h // 4, j, d]            h // 4 is the quotient of h by 4
//   if j <= i and i < M           holds where i - j >= 0 and M - 1 - i >= 0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "runtime/bench/problem/problem.h"

namespace lay::bench {

// constant + sum of factor * index. No factor is 0.
struct AffineNumber {
  std::int64_t constant = 0;
  std::map<sema::IndexId, std::int64_t> factors;

  // Returns the factor of an index; 0 if it has none.
  std::int64_t factor(sema::IndexId index) const;
};

// Returns the number that a node is at the problem's sizes; nothing if it is not affine.
std::optional<AffineNumber> affine_number(const Problem& problem, sema::NodeId node);

// Returns numbers that are at least 0, all of them, exactly where a condition holds; nothing for a
// condition that is not made of comparisons of affine numbers and `and`.
std::optional<std::vector<AffineNumber>> inequalities(const Problem& problem,
                                                      sema::NodeId condition);
// The same of the places where a single comparison does not hold.
std::optional<std::vector<AffineNumber>> negated(std::vector<AffineNumber> single);

// Returns the least and the greatest value of a number over all values of its indices.
std::pair<std::int64_t, std::int64_t> range_of(const Problem& problem, const AffineNumber& number);

// A node that is index // divisor for each value of the index; a bare index has the divisor 1.
struct Quotient {
  sema::IndexId index = -1;
  std::int64_t divisor = 1;
};
std::optional<Quotient> quotient(const Problem& problem, sema::NodeId node);

// Returns the value of a node that depends on no index and on no memory, in f64.
std::optional<double> constant_value(const Problem& problem, sema::NodeId node);

}  // namespace lay::bench
