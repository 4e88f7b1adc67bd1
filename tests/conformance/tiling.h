#pragma once

// The values that divides and products must have, by the definitions: a o (T, complement of T) and
// (a, places o T), one mode at a time.

#include <optional>

#include "tests/conformance/cases.h"

namespace conformance {

// Returns true if the layout of a divide or product has the values that it must have. Nothing for
// another case, or where the definition has no value (a tile without a complement).
std::optional<bool> keeps_tiling(lay::Facts& facts, const Case& c, const lay::Layout& result);

}  // namespace conformance
