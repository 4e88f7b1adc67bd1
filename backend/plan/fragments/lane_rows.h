// Copies of a warp between shared memory and registers, in which lanes name rows of memory: which
// row each lane names, so that all lanes get the values that they hold of a tile.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "frontend/algebra/layouts/layout.h"
#include "frontend/sema/kernel/copy_instruction.h"

namespace lay::plan {

// Those of `chosen` that a warp executes from one space to another.
std::vector<sema::CopyInstruction> warp_copies(std::span<const sema::CopyInstruction> chosen,
                                               sema::CopySpace from, sema::CopySpace to);

struct LaneRows {
  Layout lanes;    // lane that names a row -> where it lies in the tile: basis strides
  int length = 0;  // elements of a row
};

// Returns the rows of one copy of a warp in which lanes hold the values of `held`, (lane, value) ->
// coordinate in the tile, in elements of that many bits; memory has neighbours along `run`, 0 or 1,
// side by side. Nothing where the copy gives lanes other values or another number of them, where
// rows are longer than 16 bytes, where its rows lie by no such layout, and of elements of 4 bits,
// which no copy of rows moves yet.
//
//   ldmatrix(4) and the operand A of m16n8k16, along k     (8,2,2):(1@0,8@0,8@1)
std::optional<LaneRows> lane_rows(const sema::CopyInstruction& copy, const Layout& held, int run,
                                  int element_bits);

// Returns who has the first element of each row, as row -> lane + threads * value, of a lane and a
// value that several warps hold alike. Nothing where the copy has no rows of such elements.
//
//   stmatrix(4), 16 bits, 128 threads     (8,4):(4,256)
std::optional<Layout> first_of_rows(const sema::CopyInstruction& copy, int element_bits,
                                    int threads);

}  // namespace lay::plan
