// What a launch does beside what bounds it, as far as it shows in measured times: accesses to
// global memory that move one element each, and before mma.sync the way of K tiles through shared
// memory and the conversions of narrow elements. forecast.h adds them up.
#pragma once

#include "backend/plan/plan.h"
#include "backend/plan/sm80/sm80_gemm.h"
#include "backend/plan/sm90/sm90_gemm.h"
#include "backend/target/target.h"

namespace lay::plan {

// Returns the accesses to global memory of all threads of an elementwise program.
Int accesses_of(const tile::Program& program);

// Returns those of them by which a product stores single elements: of outputs that neither TMA nor
// vectors take, as of rows of odd length.
Int element_stores(const sema::Kernel& kernel, const Sm90Gemm& gemm);
inline Int element_stores(const sema::Kernel&, const auto&) {
  return 0;
}

// Returns the clocks of an SM that a K tile takes beside its products: all elements are written to
// shared memory once and read by each warp that multiplies them, and those that are narrower than
// the atom's are widened. Warps of mma.sync do one after the other.
double staging_clocks(const sema::Kernel& kernel, const Sm80Gemm& gemm, const Target& target);
// Other families do so beside their products.
inline double staging_clocks(const sema::Kernel&, const auto&, const Target&) {
  return 0;
}

// Returns the rate of tensor cores for products of these elements, in multiply-adds a second of the
// GPU at the limit of power. Infinite where there are none, as CUDA cores never come to the limit.
double sustained_rate(const Target& target, ElementType type);

// Returns the seconds that the GPU takes to issue so many accesses of one element.
double access_seconds(double accesses, const Target& target);

}  // namespace lay::plan
