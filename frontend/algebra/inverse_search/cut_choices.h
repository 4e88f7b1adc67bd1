#pragma once

// Inside the algebra: sets of indices that a value may be given, and what goes together of two.

#include <cstdint>
#include <span>
#include <vector>

#include "frontend/algebra/inverse_search/cut_rest.h"

namespace lay {

// Null is 0 alone.
std::span<const int64_t> listed(const Indices& indices);
size_t count(const Indices& indices);

// Those of `first` to which one of `second` is `difference` more. Empty and not null where there
// are none.
Indices together(const Indices& first, const Indices& second, int64_t difference);

// Whether there are any.
bool any_together(const Indices& first, const Indices& second, int64_t difference);

// What one of `second` may be more than one of `first`, each once.
std::vector<int64_t> differences(const Indices& first, const Indices& second);

}  // namespace lay
