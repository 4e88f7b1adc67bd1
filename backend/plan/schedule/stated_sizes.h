// Plans for sizes that are known: those that a script states, `schedule KERNEL for M = 4096`, those
// of `--size`, and of kernels without dims.
//
// A plan for any sizes has so many rows of the library as a launch can compare and a planner can
// plan, some 170 of bf16. Where sizes are known the costs choose among thousands of tiles
// (stdlib/policies/sm90_space.lay), and the cheapest one stands beside the rows.
#pragma once

#include "backend/plan/narrow/drawn_sizes.h"
#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::plan {

// Adds to the library's portfolio the schedule of the library's space that costs least at these
// sizes of the dims, if a launch of the sizes takes that portfolio and nothing of it costs less.
// The schedule is right for all sizes that its own conditions take. Does nothing for plans of other
// kernels than single products of two tensors, for GPUs without a space, and for sizes that the
// plan's other variants take.
void add_for_sizes(Plan& plan, const Binding& sizes, const Target& target);

// Adds the same for sizes by name. Where dims are open it does so for a dozen problems that are
// drawn (narrow/drawn_sizes.h); a search takes one or two tenths of a second.
void add_for_stated(Plan& plan, const GivenSizes& given, const Target& target);

}  // namespace lay::plan
