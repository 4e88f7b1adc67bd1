// A factor of the sums that are computed on the host: elements of a tensor, perhaps cast, along the
// summed index.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/bench/data.h"
#include "runtime/bench/problem.h"

namespace lay::bench {

// The number that becomes of x by casts to these types, one after the other.
double through(const std::vector<ElementType>& casts, double x);

struct Factor {
  const Tensor* tensor = nullptr;
  std::vector<ElementType> casts;      // from the load outwards
  std::vector<sema::IndexId> indices;  // by mode
  std::vector<std::int64_t> along_k;   // offsets, by k

  // Reads every element once and keeps it, a line of memory for the values of the other indices,
  // where so many sums would read them more often, one element of a line of the cache at a time
  // perhaps. Not where that takes more than 1 GiB, or f32 does not hold the elements.
  void keep_lines(const Problem& problem, sema::IndexId k, const Reader& from, std::int64_t sums);

  // The offset of the first element at these indices, by IndexId.
  std::int64_t base(sema::IndexId k, const std::vector<std::int64_t>& at) const;
  // The line there; null where they are not kept.
  const float* line(sema::IndexId k, const std::vector<std::int64_t>& at) const;

 private:
  std::vector<float> lines_;
  std::vector<std::int64_t> steps_;  // in lines, by mode
};

}  // namespace lay::bench
