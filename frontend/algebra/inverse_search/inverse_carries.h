#pragma once

// Inside the algebra: left inverses by a scan of the cuts whose carries select one index for each
// value.

#include <cstdint>
#include <functional>
#include <vector>

#include "frontend/algebra/inverse_search/value_table.h"

namespace lay {

// A value is v = sum of s_g*x_g over the strides s_g of a, where x_g counts the steps of all modes
// of that stride. A cut P splits it: floor(v/P) = sum of floor(s_g/P)*x_g + c_P(x), where c_P =
// floor(sum of (s_g mod P)*x_g / P) is what the remainders carry. What is due is linear in x as
// well, but for the choice between modes of one stride, or of strides of which some sums are the
// same:
//
//     (2,3):(5,5)   5 is index 1 or 2, 10 is 3 or 4, 15 is 5: R(5*x) = x + c(x) with c = 0, 0, 1, 2
//
// The scan finds the cuts whose carry, some number of times, gives what is not linear of one
// choice: such cuts, each a divisor of the next, one for each choice, fix what R gives. Beside them
// stand cuts without a carry, with one of theirs, and with one that several cuts have, so that what
// each gives are few numbers and the strides a question of whether a lattice has a point. So the
// cuts need not be small, nor the values near one another.
//
// Calls `serves` with the extents of chains that give what few_of the table ask, in ascending order
// of the cuts that carry, until it says true. Strides above 0 only. Counts the steps down.
bool each_by_carries(const ValueTable& table, int64_t& steps,
                     const std::function<bool(const std::vector<int64_t>& extents)>& serves);

}  // namespace lay
