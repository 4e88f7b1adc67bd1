// Which indices of one list run over what those of another list do.
#pragma once

#include <map>
#include <vector>

#include "frontend/algebra/integers/facts.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::tile {

// Adds to `to`, for each index of `from`, one of `into` of an equal extent: itself, else one that
// walks the same mode of a tensor, so that reads of one element become one, else the one at its
// place.
//
//   sum[d,p](X[p,d]) and Y[p',d'] = X[p',d'] * ...       p' to p, d' to d
//
// Returns false where extents differ, or where `to` has another index for one of them already.
bool match_indices(const sema::Kernel& kernel, const Facts& facts,
                   const std::vector<sema::IndexId>& from, const std::vector<sema::IndexId>& into,
                   std::map<sema::IndexId, sema::IndexId>& to);

}  // namespace lay::tile
