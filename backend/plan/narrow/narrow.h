// Which variants of a plan are worth compiling for the problems at hand.
//
// The library has a row for every tile that is the fastest somewhere, fifty for a product of bf16.
// Most of them take few problems, and another row is nearly as fast on those. A build keeps some:
// the ones whose loss over drawn problems is least.
#pragma once

#include <cstddef>
#include <vector>

#include "backend/plan/plan.h"

namespace lay::plan {

// What a build keeps of the library's variants where nothing else is said.
inline constexpr std::size_t usual_variants = 12;

struct Narrowed {
  std::vector<std::size_t> kept;  // in the plan's order
  // By the costs: the time of the variants that are kept to that of all, over the problems for
  // which both are of one portfolio. 1 where nothing is dropped.
  double mean = 1, worst = 1;
  Binding worst_at;           // sizes of `worst`
  std::size_t elsewhere = 0;  // problems that go to another portfolio than with all
};

// What a build is for.
struct Purpose {
  std::vector<Binding> problems;
  bool for_other_sizes = true;  // these are samples, and launches bring others, too
  std::size_t most = usual_variants;
};

// Chooses at most `most` of the plan's variants of the library, and all others; all of them where
// none takes any of the problems, or there is none. Laws:
//
//   a problem that one of all variants takes is taken by one that is kept, for aligned pointers and
//     for any
//   a plan that takes all sizes does so still, if it is for other sizes
//   no variant of the library is kept that takes none of the problems, if it is for these alone
//
// so that there may be more than `most` where fewer would not take all of the problems. Problems
// for pointers that are not aligned count a tenth. Variants go one after the other, the one that
// loses least first.
Narrowed narrow(const Plan& plan, const Purpose& purpose);

// The plan with what narrow keeps of it, and so each plan of launches before.
Plan narrowed_plan(const Plan& plan, const Purpose& purpose);

}  // namespace lay::plan
