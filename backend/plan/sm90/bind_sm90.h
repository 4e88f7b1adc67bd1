// A product on Hopper's tensor cores as a bound tile program, and back.
//
//   of the schedule                in the program
//   mma, promotion_interval, sets  the mma: by "sm90.wgmma(...)" in intervals of 128, into 2 sets
//   swap_ab                        the order of the mma's operands
//   accumulators, groups           the threads, and the consumers, as many times as groups
//   alternate cluster                        the blocks' clusters, and the parts of the loop over k
//   alternate_k                    the loop over k, alternating
//   tail                           the loop over k, in parts in the tail
//   stages, span, order, boxes,    of the tiles in shared memory
//   views of A and B
//   further products               an mma each, with a B of its own
//   A in registers                 fragment_A: a copy of tile_A, or a map where it is converted
//   outputs, inputs, vectors       copies behind the sums, through shared memory in parts or not
//   order, sms, registers          the blocks and warpgroups
//
// Law: sm90_of(bind_sm90(kernel, gemm)) == gemm.
#pragma once

#include <optional>

#include "backend/plan/plan.h"
#include "backend/plan/sm90/sm90_gemm.h"

namespace lay::plan {

// Returns the program of what the planner has chosen. The product can be formed.
tile::Program bind_sm90(const sema::KernelPtr& kernel, const Sm90Gemm& gemm);

// Reads a bound product back. What follows from the program by a law is not in it: the slices of a
// cluster's blocks, the exchange of those that share K, which lanes have which values on their way
// through shared memory, which accumulators share a scale, the mask.
Sm90Gemm sm90_of(const tile::Program& product);

// Returns true for a product that an atom of warpgroups multiplies.
bool is_sm90(const tile::Program& program);
bool is_sm90(const Variant& variant);

// The product on these tensor cores that the variant's own launch is; nothing for another one.
std::optional<Sm90Gemm> sm90_of(const Variant& variant);

}  // namespace lay::plan
