#pragma once

// Inside the algebra: sums of bounded integers. Most questions about a known layout come down to
// one:
//
//     is there an x with low_k <= x_k <= high_k and sum x_k*stride_k == target?
//
// (6,4):(4,10) gives no value twice unless 4*x + 10*y == 0 for some |x| <= 5, |y| <= 3 that are not
// both 0: x = 5, y = -2.
//
// Decided exactly, largest strides first: what is left must lie within what the rest can reach and
// be a multiple of their common divisor. Where the strides nearly form a mixed radix, as those of
// layouts do, that leaves one choice a level, whatever the extents. The search stops after a budget
// of steps and then says unknown.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "frontend/algebra/support/verdict.h"

namespace lay {

// Sums of extents times strides, and differences of two such sums.
__extension__ typedef __int128 Wide;

struct Bounded {
  int64_t stride;
  int64_t low, high;
  // Equations of different axes hold together.
  size_t axis = 0;
};

// Is there a solution with the target of every axis? `steps` is used up; unknown when none are
// left.
Tri solvable(std::span<const Bounded> terms, std::span<const Wide> targets, int& steps);

// The least sum and the greatest.
Wide least_sum(std::span<const Bounded> terms);
Wide greatest_sum(std::span<const Bounded> terms);

// The least n in 0..high for which `holds` says yes, where it does for high and, if for n, then for
// n + 1. Nothing when an answer is unknown.
template <typename Holds>
std::optional<int64_t> least_holding(int64_t high, const Holds& holds) {
  int64_t low = 0;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const Tri answer = holds(middle);
    if (answer == Tri::unknown) return std::nullopt;
    if (answer == Tri::yes) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace lay
