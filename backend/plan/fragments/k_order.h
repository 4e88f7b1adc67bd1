// The order in which the steps of an atom of warps take k where lanes copy for themselves what they
// multiply of an operand: a lane copies `run` neighbours along k in one access, and they are what
// it holds of several steps. Sums may be added up in any order, as long as both operands have the
// same one.
//
//   sm80.mma_pair: lane 4*i + j holds, of column i of B, the 8 elements of k from 8*j on
//   run 32         lane 4*i + j copies those from 32*j on: 16 bytes of 4 bits, for four steps.
//                  Step s multiplies 32*j + 8*s to 32*j + 8*s + 7 for j = 0 to 3.
//
//   k of the atom  (8,4):(1,8)   ->   k of a block of 128   (8,4):(1,32)      and 8*s further on
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "frontend/algebra/layouts/layout.h"

namespace lay::plan {

struct KOrder {
  int together = 1;  // neighbours along k that a lane holds of a step
  int lanes = 1;     // that share a row: the atom's k is together * lanes
  int run = 1;       // neighbours that a lane copies at once

  int steps_of_run() const { return run / together; }
  // K elements whose steps take them in this order. Blocks lie one behind the other.
  int block() const { return lanes * run; }

  friend bool operator==(const KOrder&, const KOrder&) = default;
};

// Returns the order for runs of that many elements; nothing where lanes hold no neighbours along k,
// other ones of each row, or where a run is not whole steps. `operand`: (thread, value) ->
// column-major index in the atom's operand of `shape`, (outer, k).
std::optional<KOrder> k_order(const Layout& operand, std::array<int, 2> shape, int run);

// Step -> where it begins in k, of that many steps from the beginning of a block on.
Layout steps_of(const KOrder& order, int steps);

// An operand of the atom as lanes hold it in this order: column-major in a tile of (outer, block).
Layout reordered(const Layout& operand, int outer, const KOrder& order);

// (thread, (element of a run, access)) -> (outer, k) of an operand of the atom as lanes copy it: of
// a tile of that extent along (outer, k), by `groups` warps along the outer index, and `slices` of
// them along k. Accesses are of the rows of a lane, of the atoms of a warp, and of blocks.
Layout copied_by_lanes(const Layout& operand, std::array<int, 2> shape, const KOrder& order,
                       std::array<int, 2> tile, int groups, int slices);

// (outer, k) -> offset where the accesses of a layout (thread, (element, access)) -> (outer, k) lie
// in shared memory, those of the threads side by side, one access behind the other: a warp's meet
// no bank twice.
Layout accesses_side_by_side(const Layout& threads);

}  // namespace lay::plan
