// Programs of one thread an element: every kernel has them. A thread computes the outputs at one
// coordinate of their indices, by the kernel's expressions as they stand, so that a sum is added up
// anew for each element that needs it.
//
//   Y[i,j] = X[j,i] + sum[k](Z[k])
//
//   for element in grid step 256 {          axis element = (i,j)
//     map Y_out[element] = X[j,i] + sum[k](Z[k])
//     copy Y[element] <- Y_out[element]
//   }
#pragma once

#include <vector>

#include "backend/tile/program.h"

namespace lay::tile {

// A program for all outputs over the same indices, in any order, which share what they load: all
// values of an element are computed before the first one is stored. The programs stand side by side
// in one launch; each one's kernel has its assignments alone (with_assignments).
std::vector<Program> bind_each_element(const sema::KernelPtr& kernel);

// Returns true if the program, which is bound, is such a one: its threads have no values that lie
// along an axis.
bool is_of_each_element(const Program& program);

}  // namespace lay::tile
