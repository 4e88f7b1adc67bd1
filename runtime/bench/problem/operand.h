// An operand of the sums that the reference computes: elements of a tensor, perhaps cast, along the
// summed index.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/bench/problem/data.h"
#include "runtime/bench/problem/problem.h"

namespace lay::bench {

// Rounds x to each of the types, in this order.
double rounded_through(const std::vector<ElementType>& casts, double x);

struct Operand {
  const Tensor* tensor = nullptr;
  // From the load outwards.
  std::vector<ElementType> casts;
  // The index of each mode of the tensor.
  std::vector<sema::IndexId> indices;
  // The offset that each k adds.
  std::vector<std::int64_t> along_k;

  // Packs the elements as f32, one line along k for each value of the other indices, if `sums`
  // sums read every line at least once. Reading packed lines is several times faster, for elements
  // that are neighbours along k may lie in different cache lines. Packs nothing if that takes more
  // than 1 GiB or f32 does not hold the elements.
  void pack_lines(const Problem& problem, sema::IndexId k, const Reader& from, std::int64_t sums);

  // Returns the offset of the element at k = 0. `at` has the values of all indices, by IndexId.
  std::int64_t base(sema::IndexId k, const std::vector<std::int64_t>& at) const;
  // Returns the packed line at these indices; null if lines are not packed.
  const float* line(sema::IndexId k, const std::vector<std::int64_t>& at) const;

 private:
  std::vector<float> lines_;
  // The number of lines that one step of each mode's index is.
  std::vector<std::int64_t> strides_;
};

}  // namespace lay::bench
