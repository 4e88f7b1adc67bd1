// A product on tensor cores of compute capability 8.0 as a bound tile program, and back.
//
//   of the schedule               in the program
//   mma, promotion_interval       the mma: by "sm80.mma(...)", in intervals of 128
//   accumulators, groups          the threads, of which slices differ in k only
//   stages, shared                of the tiles in shared memory
//   threads and vector of A       of tile_A, which they fill by cp.async; of A_next in registers
//                                 where cp.async has no access so narrow
//   A as the atom multiplies it   fragment_A: a copy of tile_A, or a map where it is converted
//   B, its threads' own           tile_B says so; its accesses are of the order of k, too
//   order, vectors                the blocks, and the accesses of the stores
//
// Law: sm80_of(bind_sm80(kernel, gemm)) == gemm.
#pragma once

#include <optional>

#include "backend/plan/plan.h"
#include "backend/plan/sm80/sm80_gemm.h"

namespace lay::plan {

// Returns the program of what the planner has chosen: the atom and its intervals, the threads of
// the sums and of each operand, layouts and stages of shared memory, fragments and the order of
// tiles. The product can be formed.
tile::Program bind_sm80(const sema::KernelPtr& kernel, const Sm80Gemm& gemm);

// Reads a bound product back. What follows from the atom's layout and the kernel is not in the
// program: how lanes read fragments, in the order of k that an operand of threads' own gives, and
// which accumulators share a scale.
Sm80Gemm sm80_of(const tile::Program& product);

// Returns true for a product that an atom of warps multiplies.
bool is_sm80(const tile::Program& program);

// The product on these tensor cores that the variant's own launch is; nothing for another one.
std::optional<Sm80Gemm> sm80_of(const Variant& variant);

}  // namespace lay::plan
