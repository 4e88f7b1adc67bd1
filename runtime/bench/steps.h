// By which strides indices step through a tensor, at a problem's sizes: what libraries are told of
// a matrix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/bench/problem.h"

namespace lay::bench {

// Thrown where strides do not describe a tensor: "A is stored in pieces that no leading dimension
// describes".
struct NoSteps {
  std::string reason;
};

struct Steps {
  sema::TensorId tensor = -1;
  std::vector<sema::IndexId> indices;
  std::vector<std::int64_t> strides;  // in elements

  // 0 where the tensor does not have the index.
  std::int64_t of(sema::IndexId index) const;
};

// Of a tensor whose coordinates are these indices; -1 for a coordinate that is no bare index.
Steps steps_of(const Problem& problem, sema::TensorId tensor,
               const std::vector<sema::IndexId>& indices);
Steps steps_of_load(const Problem& problem, sema::NodeId load);

// Several indices as one, and the stride with which each tensor steps through it: 0 all along is a
// stride too.
struct Batch {
  std::int64_t count = 1;
  std::vector<std::int64_t> strides;
};
// NoSteps where one of the tensors does not step evenly through all of them; the first tensor says
// which index is the fastest.
Batch batch_of(const Problem& problem, const std::vector<sema::IndexId>& indices,
               const std::vector<const Steps*>& tensors);

}  // namespace lay::bench
