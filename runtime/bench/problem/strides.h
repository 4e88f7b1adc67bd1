// The strides with which a kernel's indices go through a tensor, at a problem's sizes: what a
// library is told of a matrix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/bench/problem/problem.h"

namespace lay::bench {

// Thrown if strides do not describe a tensor: "A is stored in tiles, which no leading dimension
// describes".
struct NoStrides {
  std::string reason;
};

// X[m,k] of X: f32 (M,K):(K,1) has the indices m, k and the strides K, 1.
struct Strides {
  sema::TensorId tensor = -1;
  std::vector<sema::IndexId> indices;
  // In elements, in the order of `indices`.
  std::vector<std::int64_t> strides;

  // Returns the stride of an index; 0 if the tensor does not have it.
  std::int64_t of(sema::IndexId index) const;
};

// Returns the strides of a tensor whose coordinates are these indices; -1 stands for a coordinate
// that is not a bare index. Throws NoStrides.
Strides strides_of(const Problem& problem, sema::TensorId tensor,
                   const std::vector<sema::IndexId>& indices);
Strides strides_of_load(const Problem& problem, sema::NodeId load);

// Several batch indices as one strided batch: (L1,L2):(4096,1024) and L2 = 4 is one batch of
// stride 1024.
struct Batch {
  std::int64_t count = 1;
  // By tensor, in elements. 0 is a stride too: a tensor that all batches share.
  std::vector<std::int64_t> strides;
};

// Joins the indices in the order of the first tensor's strides, the smallest first. Throws
// NoStrides if one stride does not describe the batches of every tensor.
Batch batch_of(const Problem& problem, const std::vector<sema::IndexId>& indices,
               const std::vector<const Strides*>& tensors);

}  // namespace lay::bench
