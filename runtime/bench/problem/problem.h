// A problem: a kernel with numbers for its sizes and scalars, and its tensors as numbers too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/sema/kernel/kernel_call.h"

namespace lay::bench {

// A top-level mode of a tensor's layout.
struct Mode {
  struct Leaf {
    std::int64_t extent, stride;
  };
  // The fastest coordinate first. Leaves of extent 1 are dropped, neighbours that one stride
  // describes are merged: ((2,4)):((1,2)) is the leaf 8:1.
  std::vector<Leaf> leaves;
  std::int64_t size = 1;

  // Returns the offset that a coordinate of this mode adds.
  std::int64_t offset(std::int64_t coordinate) const;
  // Returns the stride of the whole mode: 0 for a mode of size 1, nothing if the mode has several
  // leaves.
  std::optional<std::int64_t> stride() const;
};

// A tensor with numbers for extents and strides.
struct Tensor {
  std::string name;
  ElementType element = ElementType::f32;
  sema::Access access = sema::Access::input;
  std::vector<Mode> modes;
  // The elements of memory from the first to the last one, gaps included.
  std::int64_t elements = 0;
  // Where coordinates are read from it: the least extent that they have to stay below.
  std::optional<std::int64_t> below{};
  // Where segments begin in it: how many there are, and how many rows they have together.
  struct Segments {
    std::int64_t count, rows;
  };
  std::optional<Segments> segments{};

  // On the host, where each element has bytes of its own, and on the GPU.
  std::size_t bytes() const {
    return static_cast<std::size_t>(elements) * sema::element_bytes(element);
  }
  std::size_t device_bytes() const { return is_half_byte(element) ? (bytes() + 1) / 2 : bytes(); }
  bool is_written() const { return access != sema::Access::input; }
};

// A kernel at sizes: what is checked and timed.
struct Problem {
  sema::KernelPtr kernel;
  Binding sizes;
  std::vector<sema::Number> scalars;  // by ScalarId
  std::vector<Tensor> tensors;        // by TensorId

  // Returns how many values an index takes.
  std::int64_t extent(sema::IndexId index) const;
  // Returns a scalar as f64.
  double real(sema::ScalarId scalar) const;
  // Returns the sizes in the order of the kernel's dims.
  std::vector<std::pair<std::string, std::int64_t>> named_sizes() const;
  // Returns the bytes that all tensors together take on the GPU.
  std::size_t bytes() const;
};

// Makes a problem of sizes and scalars by name. A scalar that is not named is 1, or 0 if it is
// called beta. Throws Refusal "unknown-size", "guard", "overflow", "no-parameter" (a name that is
// neither a size nor a scalar), "unsupported".
Problem problem_of(const sema::KernelPtr& kernel, const std::map<std::string, std::int64_t>& sizes,
                   const std::map<std::string, double>& scalars);

// Returns the problem for another kernel with the same dims and scalars: one that was derived from
// the problem's kernel.
Problem with_kernel(const Problem& problem, sema::KernelPtr kernel);

}  // namespace lay::bench
