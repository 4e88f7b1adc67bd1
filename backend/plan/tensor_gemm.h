// A GEMM on tensor cores, in what every family of them has: the tile of a block is divided among
// groups of threads, each of which multiplies its part by one instruction, the atom, again and
// again.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "backend/plan/grouped/row_segments.h"
#include "backend/plan/scales/product_scale.h"
#include "backend/plan/schedule/tile_order.h"
#include "frontend/algebra/layouts/layout.h"
#include "frontend/sema/kernel/atom.h"
#include "frontend/sema/kernel/copy_instruction.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::plan {

struct TensorGemm {
  friend bool operator==(const TensorGemm&, const TensorGemm&) = default;

  sema::NodeId contraction = -1;
  sema::IndexId m = -1, n = -1, k = -1;
  std::vector<sema::IndexId> batch;  // further output indices: further coordinates of a tile
  sema::Atom mma;
  // The atom's first operand is the product's second factor, and its rows are the output's columns:
  // m and all of the rows here are the atom's.
  bool swap_ab = false;
  std::array<int, 3> tile{};
  std::array<int, 4>
      groups{};  // that execute the atom, over tile M, N, K and over successive tiles
  int stages = 0;
  Layout accumulators;  // (thread of the groups, value) -> (m, n) in the tile: basis strides;
                        // thread (of the atom, group), value (of the atom, (i, j))
  std::vector<int>
      vectors;  // of each assignment, from registers: elements along n that one access writes
  std::optional<RowSegments> segments;  // of the rows, in tiles of their own (sm90)
  TileOrder order;                      // of blocks or clusters
  // That copy what they can, before the library's.
  std::vector<sema::CopyInstruction> copies;

  // K elements whose products the tensor cores add up by themselves before the sum goes on in
  // registers, rounded as the accumulator's type rounds: a multiple or a part of the tile's, or 0
  // for all of K.
  int promotion_interval = 0;
  std::vector<ProductScale> scales;      // of each interval, which then lies in one group of each
  ElementType total = ElementType::f32;  // in which intervals are added up, the sum's type

  // The part of the tile that one group has.
  std::array<int, 2> part() const { return {tile[0] / groups[0], tile[1] / groups[1]}; }
  // Atoms of one group along m, n and k.
  std::array<int, 3> repeats() const {
    return {part()[0] / mma.shape[0], part()[1] / mma.shape[1], tile[2] / mma.shape[2]};
  }
  // Elements of K of a tile that one group multiplies, neighbours.
  int part_of_k() const { return tile[2] / groups[2]; }
  // K tiles of a promotion interval of several, and times that a group adds to its totals in a K
  // tile where an interval is a part of one; else 1.
  int tiles_of_interval() const { return std::max(1, promotion_interval / tile[2]); }
  int intervals_of_tile() const {
    const bool inside = promotion_interval > 0 && promotion_interval < tile[2];
    return inside ? std::max(1, part_of_k() / promotion_interval) : 1;
  }
  // A thread's registers of scales.
  int scale_registers() const {
    int all = 0;
    for (const ProductScale& scale : scales) all += scale.count;
    return all;
  }
};

}  // namespace lay::plan
