#pragma once

// Inside the algebra: strides for known extents, where values have several indices.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "frontend/algebra/inverse_search/value_table.h"

namespace lay {

// Strides of a layout of these extents, and of an open one above them, that gives each of the
// entries one of its indices. None: there are none, or the steps were used up. Numbers beyond 64
// bits throw Refusal "overflow".
std::optional<std::vector<int64_t>> strides_for(const ValueTable& table,
                                                std::span<const size_t> entries,
                                                const std::vector<int64_t>& extents,
                                                int64_t& steps);

}  // namespace lay
