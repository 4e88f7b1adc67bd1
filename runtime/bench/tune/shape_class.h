// Classes of sizes that share a schedule: a class holds the sizes whose nearest power of two is the
// same.
//
//   M = 4096 and M = 5000 are of the class   M >= 3072 and M < 6144
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend/plan/recognise.h"
#include "runtime/bench/problem/problem.h"

namespace lay::bench {

struct SizeRange {
  std::int64_t from, below;
};
// Returns the power of two whose class holds a size of at least 1.
std::int64_t power_of(std::int64_t size);
// Returns the class of a size: from 3/4 to 3/2 of its power of two. Every size is in one class.
SizeRange range_of(std::int64_t size);

// What a schedule that was timed at some sizes is for: all of their class, or these alone.
enum class Reach { of_class, of_sizes };
SizeRange range_of(std::int64_t size, Reach reach);

// Returns the condition of a problem's class as Lay, over the kernel's dims; "" if no extent is a
// size.
std::string shape_class(const Problem& problem, const plan::GemmForm& form, Reach reach);
// The same as conditions that must all hold.
std::vector<Predicate> shape_conditions(const Problem& problem, const plan::GemmForm& form,
                                        Reach reach);

// Returns the sizes at both ends of a problem's class, by dim: all extents least, and all greatest,
// in multiples of 8 where the problem's are, so that memory is as aligned. Of an extent of several
// dims the greatest one moves. Without those that are the problem's own.
std::vector<std::map<std::string, std::int64_t>> ends_of_class(const Problem& problem,
                                                               const plan::GemmForm& form);

}  // namespace lay::bench
