#pragma once

// Inside the algebra: the sums of whole multiples of given rows.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "frontend/algebra/support/digest.h"

namespace lay {

// Kept as one row for each column that it begins in, from 1 up there, reduced by the rows below:
// one form for each lattice. Numbers beyond 64 bits throw Refusal "overflow".
class Lattice {
 public:
  explicit Lattice(size_t width) : rows_(width) {}

  void add(std::vector<int64_t> row);
  bool has(std::vector<int64_t> row) const;
  void mix(Digest& digest) const;

 private:
  void reduce(std::vector<int64_t>& row, size_t begin) const;

  std::vector<std::vector<int64_t>> rows_;  // empty where none begins
};

}  // namespace lay
