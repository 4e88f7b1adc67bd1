// A kernel with numbers for its sizes and scalars: what is measured. Its tensors as strides that
// can be computed with.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/sema/kernel/kernel_call.h"

namespace lay::bench {

// One top-level mode of a tensor: extents and strides of its leaves, the fastest coordinate first,
// neighbours that step evenly merged. Of size 1: no leaf.
struct Mode {
  struct Leaf {
    std::int64_t extent, stride;
  };
  std::vector<Leaf> leaves;
  std::int64_t size = 1;

  std::int64_t offset(std::int64_t coordinate) const;
  // The one stride with which the whole mode steps; 0 for a mode of size 1. Nothing for a mode in
  // pieces.
  std::optional<std::int64_t> stride() const;
};

struct Tensor {
  std::string name;
  ElementType element = ElementType::f32;
  sema::Access access = sema::Access::input;
  std::vector<Mode> modes;
  std::int64_t elements = 0;  // that it spans in memory

  std::size_t bytes() const {
    return static_cast<std::size_t>(elements) * sema::element_bytes(element);
  }
  bool is_written() const { return access != sema::Access::input; }
};

struct Problem {
  sema::KernelPtr kernel;
  Binding sizes;
  std::vector<sema::Number> scalars;  // by ScalarId
  std::vector<Tensor> tensors;        // by TensorId

  std::int64_t extent(sema::IndexId index) const;
  double real(sema::ScalarId scalar) const;
  std::vector<std::pair<std::string, std::int64_t>> named_sizes()
      const;                  // in the order of the kernel's dims
  std::size_t bytes() const;  // of all tensors
};

// Sizes and scalars by name; a scalar that is not named is 1, but 0 where it is called beta.
// Refusal "unknown-size", "guard", "overflow", "no-parameter" (a name that is neither).
Problem problem_of(const sema::KernelPtr& kernel, const std::map<std::string, std::int64_t>& sizes,
                   const std::map<std::string, double>& scalars);

// The same sizes and scalars for a kernel that has the same dims and scalars (problems derived from
// a problem).
Problem with_kernel(const Problem& problem, sema::KernelPtr kernel);

}  // namespace lay::bench
