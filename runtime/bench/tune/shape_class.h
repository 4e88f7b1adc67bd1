// The sizes that share a schedule: those whose powers of two are the same, to the nearest.
//
//   M = 4096 and M = 5000 are of the class   M >= 3072 and M < 6144
#pragma once

#include <string>

#include "backend/plan/recognise.h"
#include "runtime/bench/problem.h"

namespace lay::bench {

struct Range {
  std::int64_t from, below;
};
// Of a size of at least 1: the power of two whose class it is in.
std::int64_t power_of(std::int64_t size);
// From 3/4 to 3/2 of a power of two. Every size is in one range.
Range range_of(std::int64_t size);

// The condition of the class of this problem, over the kernel's dims, as Lay: "" where no extent is
// a size.
std::string shape_class(const Problem& problem, const plan::GemmForm& form);

}  // namespace lay::bench
