// A kernel whose indices are renamed and whose equal nodes are one again.
#pragma once

#include <map>

#include "frontend/sema/kernel/kernel.h"

namespace lay::tile {

// Returns the kernel with each index of the map replaced by another one of an equal extent, and
// without the nodes that no assignment needs. Nodes that become equal become one.
//
//   max[k](X[m,k]) and X[m,n] with k -> n share the load X[m,n]
sema::Kernel rename_indices(const sema::Kernel& kernel,
                            const std::map<sema::IndexId, sema::IndexId>& to);

}  // namespace lay::tile
