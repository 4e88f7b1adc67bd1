// The rules of the program of one product (product.h), beside those of all programs.
//
// An axis has one index. The loops over rows, columns and batch are over the grid, the loop over
// the summed axis is in sequence and holds what brings the operands and the product. Outputs are
// stored when all of them are computed.
//
// A bound program has a grid over all axes but the summed one. Its threads cover the tile of rows
// and columns once, each slice for itself; slices have equal parts of a tile of k. The threads that
// read an operand cover its tile once, and have the elements of an access side by side. A tile in
// shared memory has a place for each of its elements, and no place twice; both have as many stages,
// which fit in shared memory. Two stages are filled by the threads that multiply, more by a
// producer warpgroup, which alone may use TMA, or for an atom.
//
// Where an atom multiplies, the threads hold the sums as it does, a tile is whole atoms, and an
// interval a multiple or a part of the tile of k. What the atom takes in registers are fragments of
// its type. Threads that copy asynchronously do so by one instruction for as many bytes, which lie
// side by side.
#pragma once

#include <vector>

#include "backend/tile/verify.h"

namespace lay::tile {

// Ids are in range.
std::vector<Problem> verify_product(const Program& program);

}  // namespace lay::tile
