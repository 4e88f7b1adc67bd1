#pragma once

// A case as a person writes it in Lay: "zipped_divide(((8,6):(1,8)), (2,3))".

#include <functional>
#include <optional>
#include <string>

#include "tests/conformance/cases.h"

namespace conformance {

// How numbers of operands and tilers are written: as they are, or as names of dims.
struct Spelling {
  std::function<std::string(int64_t)> extent = [](int64_t n) { return std::to_string(n); };
  std::function<std::string(int64_t)> stride = [](int64_t n) { return std::to_string(n); };
};

// Nothing if the operation is not in the table.
std::optional<std::string> expression_of(const Case& c, const Spelling& spelling = {});

}  // namespace conformance
