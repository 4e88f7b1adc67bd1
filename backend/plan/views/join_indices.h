// Indices made one, also where memory does not walk them as one.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "frontend/algebra/integers/facts.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::plan {

// Returns the kernel with some of its indices made one, the first of them the slowest, under the id
// of the last. A tensor that holds them side by side wherever it is read or written has one mode
// for them; elsewhere each is a quotient and a remainder of the one:
//
//   Y[n,p,f] = sum[c](X[n,2*p,c] * W[f,c])      Y[n_p,f] = sum[c](X[n_p//P,2*(n_p%P),c] * W[f,c])
//
// Law: i * N + j is i and j by quotient and remainder by N, for 0 <= j < N. Nothing where an output
// does not hold them side by side. `operands` are loads whose tensors keep their modes.
std::optional<sema::Kernel> with_indices_joined(const sema::Kernel& kernel,
                                                const std::vector<sema::IndexId>& indices,
                                                const std::set<sema::NodeId>& operands,
                                                const Facts& facts);

}  // namespace lay::plan
