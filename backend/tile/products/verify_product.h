// The rules of the program of one product (product.h), beside those of all programs.
//
// An axis has one index. The loops over rows, columns and batch are over the grid, the loop over
// the summed axis is in sequence and holds what brings the operands and the product. Outputs are
// stored when all of them are computed.
#pragma once

#include <vector>

#include "backend/tile/verify.h"

namespace lay::tile {

// Ids are in range.
std::vector<Problem> verify_product(const Program& program);

}  // namespace lay::tile
