#pragma once

// Inside the algebra: chains of given cuts whose whole multiples add up to what is due.

#include <cstdint>
#include <functional>
#include <vector>

namespace lay {

// A cut as what it gives: a factor for each of some functions that do not depend on one another.
struct CutRow {
  int64_t at;
  std::vector<int64_t> row;
};

// Calls `serves` with the extents of chains 1, ..., each cut a divisor of the next, that go through
// the cut `through` and of whose rows `target` is a sum of whole multiples, until it says true.
// `cuts` ascend from 1; those above `through` are multiples of it. Of two chains that end alike and
// span the same one is taken. Counts the steps down; numbers beyond 64 bits end it with Refusal
// "overflow".
bool each_lattice_chain(const std::vector<CutRow>& cuts, int64_t through,
                        const std::vector<int64_t>& target, int64_t& steps,
                        const std::function<bool(const std::vector<int64_t>& extents)>& serves);

}  // namespace lay
