// Coordinates that are sums of indices.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "frontend/algebra/integers/facts.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::plan {

// constant + the sum of by[index] * index, without zeros.
struct LinearCoordinate {
  Int constant = 0;
  std::map<sema::IndexId, Int> by;

  friend bool operator==(const LinearCoordinate&, const LinearCoordinate&) = default;
};

LinearCoordinate operator+(const LinearCoordinate& a, const LinearCoordinate& b);
LinearCoordinate operator*(const Int& factor, const LinearCoordinate& of);

// The integer that a node is, as such a sum; nothing for other nodes.
std::optional<LinearCoordinate> linear_coordinate(const sema::Kernel& kernel, sema::NodeId node);

// The conjuncts of a condition, each as the sum that is not negative where it holds:
//
//   1 <= p + r and p + r <= S      p + r - 1, S - p - r
//
// Nothing where one of them is no comparison of such sums by an order.
std::optional<std::vector<LinearCoordinate>> not_negative_where(const sema::Kernel& kernel,
                                                                sema::NodeId condition);

// Whether the facts prove that the sum is not negative for all values of its indices.
bool never_negative(const sema::Kernel& kernel, const Facts& facts, const LinearCoordinate& sum);

}  // namespace lay::plan
