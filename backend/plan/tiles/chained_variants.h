// Variants of kernels of chained products (tile/chained_products.h) on Hopper's tensor cores.
//
//   schedule attention for sm90 {
//     tile   = (128,128)     rows and columns of a block: 64 rows for each consumer warpgroup
//     stages = 2             tiles of K and of V on their way at once
//   }
//
// The atoms follow: wgmma of 64 x columns for the scores, of 64 x the result's columns for the
// second product, which reads the weights from registers. Proved here: the values that a thread has
// of the scores are those that it gives the second atom, value by value.
//
//   scores    ((4,8,4),(2,2,N/8)):((128,1,16),(64,8,512))     value 8j + i is value i of step j of
//   operand   ((4,8,4),(2,2,2)):((128,1,16),(64,8,512))       64 x 16
#pragma once

#include <optional>
#include <string>

#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::plan {

// Adds a variant for each class of extents that tiles hold whole. Returns why there is none, as a
// clause; nothing where there is one, or a problem. Problems: "schedule-entry" and
// "schedule-shared" of schedules with a tile of rows and columns.
std::optional<std::string> add_chained_variants(Plan& plan, const Facts& facts,
                                                const Target& target);

// Returns true if a schedule has a tile of rows and columns.
bool is_for_chained_products(const sema::Schedule& schedule);

// Returns true if the values of accumulators of (64, n) are those of 64 x k operands, step after
// step along n.
bool are_operands(const sema::Atom& accumulators, const sema::Atom& operands);

}  // namespace lay::plan
