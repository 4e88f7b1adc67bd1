// What has to hold for a view at given sizes.
#pragma once

#include <optional>
#include <vector>

#include "backend/tile/products/operand_view.h"
#include "frontend/algebra/integers/predicate.h"

namespace lay::plan {

using tile::OperandView;
using tile::ViewedMode;

// The conditions under which K tiles of that many elements lie within one value of the slower
// digits of the sum, and im2col mode takes the windows: its corners and offsets share 16 bits
// (CUDA driver API, cuTensorMapEncodeIm2col). Nothing where none can hold.
std::optional<std::vector<Predicate>> conditions_of_view(const OperandView& view, int tile_k);

}  // namespace lay::plan
