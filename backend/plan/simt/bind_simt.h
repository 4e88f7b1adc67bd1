// A product on CUDA cores as a bound tile program.
#pragma once

#include "backend/plan/plan.h"

namespace lay::plan {

// Returns the program of what the planner has chosen: the threads of the sums, of loads and of
// slices, layouts and stages of shared memory, boxes, parts of K and the order of tiles.
tile::Program bind_simt(const sema::KernelPtr& kernel, const SimtGemm& gemm);

}  // namespace lay::plan
