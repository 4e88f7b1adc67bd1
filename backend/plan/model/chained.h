// The cost of programs of chained products.
#pragma once

#include <cstdint>
#include <optional>

#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::plan {

// Before sizes are known: registers of a consumer, shared memory, bytes through L2, and the
// operations of both products where no mask leaves any out. Bytes of global memory are left open.
Prediction predict_chained(const tile::Program& program, const Target& target);

// The work of an SM that has the whole tile of rows, in clocks a tile of columns: of the tensor
// cores, and of the exponentials beside them.
struct ChainedWork {
  double products = 0, weights = 0;
};
ChainedWork chained_work(const tile::Program& program, const Target& target);

// Tiles of columns that the tiles of rows of one batch multiply, where a mask leaves weights: of
// all tiles of rows together, of the one that has most, and of one without the mask.
struct LiveColumns {
  std::int64_t all = 0, most = 0, whole = 0;
};
// Nothing where a size has no value, or where a mask has more than 2^20 tiles.
std::optional<LiveColumns> live_columns(const tile::Program& program, const Binding& sizes);

}  // namespace lay::plan
