// Does a layout give every coordinate its own value? Internal to this folder.
#pragma once

#include <vector>

#include "frontend/algebra/layout.h"

namespace lay::sema {

// proved, refuted (for all sizes), or undecided: then `conditions` together are enough.
struct Injectivity {
  Verdict verdict;
  std::vector<Predicate> conditions;
};

// Law: sorted so that each stride exceeds the largest value of the modes before it, a layout counts in a mixed radix
// with gaps and is injective. Known layouts of up to 2^20 elements are decided by their values.
Injectivity injectivity(Facts& facts, const Layout& layout);

}  // namespace lay::sema
