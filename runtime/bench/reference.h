// Compares results with sums in f64 on the host, within what the additions and roundings of a
// right kernel can do:
//
//   |c - r| <= |e(r + d) - e(r)| + roundings of the epilogue and of the output,   d = t(K) * |A||B|
//
// with the exact sum r, the epilogue e, and t(K) the smaller of the worst case and 8 sqrt(K) unit
// roundoffs of the accumulator. Tensor cores truncate, which adds one roundoff for each of their
// steps. A NaN is right only where the reference is a NaN.
//
// A sum may be of anything: |A||B| is then the sum of the terms' magnitudes, and the rounding
// errors of the terms themselves are added to d.
//
// Source: N. J. Higham, T. Mary, "A new approach to probabilistic rounding error analysis", SIAM J.
// Sci. Comput. 41 (2019): the square root.
#pragma once

#include <string>

#include "runtime/bench/problem/data.h"
#include "runtime/bench/problem/problem.h"

namespace lay::bench {

// The findings of a comparison.
struct Comparison {
  // Elements that were compared, and how many of them are wrong.
  std::int64_t elements = 0, wrong = 0;
  // The largest error as a share of its bound.
  double worst = 0;
  // The first wrong element: "C[3,5]: expected 7.25 +- 0.01, got 7.5".
  std::string first;
  bool right() const { return wrong == 0; }
};

// Chooses the elements to compare: all of them, or the corners and as many at random as the limit
// on work leaves.
struct Sampling {
  // Terms of sums that the host computes, over all elements.
  double most_products = 4e8;
  std::uint64_t seed = 1;
};

// How a launch may differ from the reference.
struct Tolerance {
  // All sums are exact (integers), so that d is 0.
  bool exact = false;
  // A further relative error of the result, for a baseline that rounds between a product and its
  // epilogue.
  double extra_roundoff = 0;
  // The number of K elements that tensor cores add up by themselves; 0 for all of K.
  int promotion_interval = 0;
};

// Compares the outputs of a launch. `before` holds every tensor as it was before the launch,
// `after` the outputs, both by TensorId.
Comparison compare_with_reference(const Problem& problem, const HostData& before,
                                  const HostData& after, const Tolerance& tolerance,
                                  const Sampling& sampling = {});

// Returns whether the sums of integers that fit the significand are exact: every sum is of elements
// or of products of two elements.
bool has_exact_sums(const Problem& problem);

// Returns t(K) for sums of products of these operands in this accumulator.
double allowed_error(std::int64_t k, ElementType left, ElementType right, ElementType accumulator,
                     int promotion_interval = 0);

// Returns the element at which two blocks of the same length first differ; -1 if they are equal.
std::int64_t first_difference(const Tensor& tensor, const std::vector<std::byte>& a,
                              const std::vector<std::byte>& b);

}  // namespace lay::bench
