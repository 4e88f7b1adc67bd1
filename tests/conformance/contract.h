#pragma once

// The contract of an operation (frontend/algebra/layouts/operations.h), tested on a result by
// values at up to 4096 indices and without the operation itself.

#include <optional>

#include "tests/conformance/cases.h"

namespace conformance {

// Nothing where this test cannot tell.
std::optional<bool> keeps_contract(const Case& c, const Outcome& outcome);

// The same function of the 1-D index: of layouts up to 4096 indices, and all values of a partition.
bool same_function(const Outcome& a, const Outcome& b);

}  // namespace conformance
