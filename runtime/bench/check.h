// Whether a result is right: elements of it against sums in f64 on the host, within what the
// additions and roundings of a right kernel can do, judged by |A||B|.
//
//   |c - r| <= |e(r + d) - e(r)| + roundings of the epilogue and of the output,   d = t(K) * |A||B|
//
// with the exact sum r, the epilogue e, and t(K) the smaller of the worst case and 8 sqrt(K) unit
// roundoffs of the accumulator; for tensor cores, which truncate, one more roundoff each step of
// theirs. NaN is never right.
//
// Source: N. J. Higham, T. Mary, "A new approach to probabilistic rounding error analysis", SIAM J.
// Sci. Comput. 41 (2019): the square root.
#pragma once

#include <string>

#include "runtime/bench/data.h"
#include "runtime/bench/problem.h"

namespace lay::bench {

struct Judgement {
  std::int64_t elements = 0;  // that were compared
  std::int64_t wrong = 0;     // of them
  double worst = 0;           // the largest error as a part of what is allowed
  std::string first;          // "C[3,5] is 7.5 and should be 7.25, +- 0.01": the first wrong one
  bool right() const { return wrong == 0; }
};

// What `check` compares: every element, or so many spread evenly with the corners and at random.
struct Sampling {
  double most_products = 4e8;  // of the sums that are computed on the host, all together
  std::uint64_t seed = 1;
};

// `before` holds what every tensor held before the launch, `after` what the outputs hold now (by
// TensorId). `exact` says that all sums are exact (integers), so that d is 0. `extra_roundoff`
// allows as much again of the result: for an opponent that rounds between a product and its
// epilogue. `promotion_interval` is how many K tensor cores add up by themselves, 0 for all of
// them.
Judgement check(const Problem& problem, const HostData& before, const HostData& after, bool exact,
                const Sampling& sampling = {}, double extra_roundoff = 0,
                int promotion_interval = 0);

// t(K) for sums of products of these factors in this accumulator.
double allowed_error(std::int64_t k, ElementType left, ElementType right, ElementType accumulator,
                     int promotion_interval = 0);

// The first byte at which two blocks of a length differ, as the element it belongs to; -1 where
// they are the same.
std::int64_t first_difference(const Tensor& tensor, const std::vector<std::byte>& a,
                              const std::vector<std::byte>& b);

}  // namespace lay::bench
