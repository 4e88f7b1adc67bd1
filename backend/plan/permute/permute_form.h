// Decides whether a checked kernel is a permute kernel, and along which index each of its tensors
// runs.
//
//   Y[i,j] = X[j,i]      X (N,M):(M,1), Y (M,N):(N,1):  X runs along i, Y along j
//
// Its outputs are computed element by element from inputs whose memory may run along other indices
// (tile/elementwise/elementwise.h). Inputs that run along another index than the outputs are read
// in the order of their own memory and go through shared memory; the others come straight to the
// thread that needs them.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/algebra/integers/facts.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::plan {

// Where one tensor lies: how far a step along each index of the outputs moves in its memory.
struct AffineAccess {
  // A leaf of a mode: `extent` steps of `step` of the index move by `stride` elements each.
  struct Leaf {
    int axis = 0;  // place of the index among the outputs'
    Int extent, step, stride;
  };
  sema::TensorId tensor = -1;
  int mode = -1;      // that runs along memory
  int run_axis = -1;  // the index it runs along; -1: none, or not one of the outputs'
  bool bare = false;  // the coordinate of that mode is the index itself
  std::vector<Leaf>
      leaves;  // in the order of memory: the smallest stride first, those of stride 0 last
  bool depends_on(int axis) const;
};

struct PermuteForm {
  std::vector<sema::IndexId> indices;  // of the first output
  std::vector<AffineAccess> outputs;   // of the assignments
  struct Input {
    sema::NodeId load = -1;
    AffineAccess way;
  };
  // Loads of inputs that happen at every element and whose coordinates are sums of indices.
  std::vector<Input> inputs;
};

struct NotPermute {
  std::string reason;
};

std::variant<PermuteForm, NotPermute> recognise_permute(const sema::Kernel& kernel, Facts& facts);

}  // namespace lay::plan
