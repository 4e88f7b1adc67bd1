#pragma once

// Random layouts for the law tests, from a generator of our own so that runs repeat everywhere.

#include <cstdint>
#include <functional>
#include <vector>

#include "frontend/algebra/layouts/operations.h"

namespace laws {

struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  int64_t in(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  bool once_in(int64_t n) { return in(1, n) == 1; }
};

// Sums, products, roundings, minima and selections of what `leaf` gives.
lay::Int random_integer(Random& random, int depth, const std::function<lay::Int()>& leaf);
// Comparisons and divisibility of such integers, joined by `and` and `or`.
lay::Predicate random_condition(Random& random, int depth, const std::function<lay::Int()>& leaf);

// A shape of at most `depth` levels with extents 1..max_extent.
lay::Tuple random_shape(Random& random, int depth, int64_t max_extent);
// Strides for a shape: compact in a random order, with gaps, repeated, 0, or arbitrary up to 40.
lay::Layout random_layout(Random& random, const lay::Tuple& shape);
lay::Layout random_layout(Random& random, int depth = 2, int64_t max_extent = 6);

// The same with some strides below 0; with a basis element of its own for some modes, the other
// strides along mode 0; and one whose strides address the modes of a layout of that rank.
lay::Layout negated(Random& random, const lay::Layout& a);
lay::Layout with_basis(Random& random, const lay::Layout& a);
lay::Layout addressing(Random& random, const lay::Layout& a, int rank);

// A swizzle of up to 2 bits that reads and changes low bits, in either direction.
lay::Swizzle random_swizzle(Random& random);

// All layouts of rank 1 and 2 with the given extents and strides.
std::vector<lay::Layout> small_layouts(int64_t max_extent, int64_t max_stride);

// The same values at every 1-D index.
bool same_function(const lay::Layout& a, const lay::Layout& b);
// The value at a 1-D index as a number.
int64_t at(const lay::Layout& a, int64_t index);

}  // namespace laws
