// A GEMM on tensor cores, in what every family of them has: the tile of a block is divided among
// groups of threads, each of which multiplies its part by one instruction, the atom, again and
// again.
#pragma once

#include <array>
#include <vector>

#include "frontend/algebra/layouts/layout.h"
#include "frontend/sema/kernel/atom.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::plan {

struct TensorGemm {
  sema::NodeId contraction = -1;
  sema::IndexId m = -1, n = -1, k = -1;
  std::vector<sema::IndexId> batch;  // further output indices: further coordinates of a tile
  sema::Atom mma;
  std::array<int, 3> tile{};
  std::array<int, 4>
      groups{};  // that execute the atom, over tile M, N, K and over successive tiles
  int stages = 0;
  Layout accumulators;  // (thread of the groups, value) -> (m, n) in the tile: basis strides;
                        // thread (of the atom, group), value (of the atom, (i, j))
  std::vector<int>
      vectors;  // of each assignment, from registers: elements along n that one access writes
  Layout
      order;  // the block or cluster that takes a tile -> (tile m, tile n, batch...): basis strides

  // The part of the tile that one group has.
  std::array<int, 2> part() const { return {tile[0] / groups[0], tile[1] / groups[1]}; }
  // Atoms of one group along m, n and k.
  std::array<int, 3> repeats() const {
    return {part()[0] / mma.shape[0], part()[1] / mma.shape[1], tile[2] / mma.shape[2]};
  }
};

}  // namespace lay::plan
