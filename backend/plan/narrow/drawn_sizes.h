// Sizes of problems, drawn as users bring them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backend/plan/plan.h"

namespace lay::plan {

// Sizes of a kernel by name; those that are not given are drawn.
using GivenSizes = std::map<std::string, std::int64_t>;

// Returns how many of the kernel's sizes are given.
std::size_t given_dims(const sema::Kernel& kernel, const GivenSizes& given);

// Returns sizes that the kernel's guards allow, at most `count` of them, from a seed: the same for
// the same kernel. A size is from 8 to 16384, the larger of two of which each factor of two is as
// likely: one in seven is below 128. Half of the problems are in multiples of 64, a third of 8. In
// a fifth of them one size is from 1 to 64, as of few rows. The product of all is at most 2^38
// where none is given. Where all are given it is these, once. Guards that refuse nearly all sizes
// leave few, or none.
std::vector<Binding> drawn_sizes(const sema::Kernel& kernel, const GivenSizes& given, int count);

}  // namespace lay::plan
