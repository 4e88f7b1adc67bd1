// The cost of programs of chained products.
#pragma once

#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::plan {

// Before sizes are known: registers of a consumer, shared memory, bytes through L2, and the
// operations of both products where no mask leaves any out. Bytes of global memory are left open.
Prediction predict_chained(const tile::Program& program, const Target& target);

// The time of the tensor cores and of the exponentials beside them for all columns, in clocks of an
// SM that has the whole tile of rows for `columns` columns.
double chained_clocks(const tile::Program& program, const Target& target, double columns);

}  // namespace lay::plan
