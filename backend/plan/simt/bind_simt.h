// A product on CUDA cores as a bound tile program, and back.
//
// Law: simt_of(bind_simt(kernel, gemm)) == gemm.
#pragma once

#include <optional>

#include "backend/plan/plan.h"
#include "backend/plan/simt/simt_gemm.h"

namespace lay::plan {

// Returns the program of what the planner has chosen: the threads of the sums, of loads and of
// slices, layouts and stages of shared memory, boxes, parts of K and the order of tiles.
tile::Program bind_simt(const sema::KernelPtr& kernel, const SimtGemm& gemm);

// Reads a bound product back.
SimtGemm simt_of(const tile::Program& product);

// The product on CUDA cores that the variant's own launch is; nothing for another one.
std::optional<SimtGemm> simt_of(const Variant& variant);

}  // namespace lay::plan
