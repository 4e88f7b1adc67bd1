#pragma once

// The vectors of tests/conformance: results of NVIDIA CuTe (C++, CUTLASS 4.7.0) on static integers,
// one JSON object a line:
// {"id", "op", "in": [operands], "args": {...}, "static": result, "dynamic_differs"?}. A layout is
// {"shape", "stride"}, a basis stride "2@0" (last index outermost), "_" the underscore. A result is
// a layout, a composed layout, a value, a swizzle, or {"error": true, "reason"} where CuTe does not
// compile the expression. "dynamic_differs" marks what CuTe answers otherwise when the integers are
// known only at run time.
//
// The layout of a partition comes with "bases": what thread t's first value is, for a tensor that
// is column-major.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/algebra/layouts/operations.h"

namespace conformance {

using Json = nlohmann::json;

struct Case {
  std::string id;
  std::string op;
  std::vector<Json> in;
  Json args;
  Json expected;
  bool dynamic_differs = false;

  std::string describe() const;
};

std::vector<Case> read_cases(const std::string& path);

// The result of an operation: a layout (and the offset of a slice, or the values of all threads), a
// value or a swizzle.
struct Outcome {
  std::variant<lay::AnyLayout, lay::Tuple, lay::Swizzle> result;
  lay::Tuple offset = 0;
  std::vector<int64_t> table;  // value v of thread t at t + threads * v

  std::string to_string() const;
};

lay::Tuple as_tuple(const Json& j);
lay::Layout as_layout(const Json& j);
lay::Composed as_composed(const Json& j);
lay::Tiler as_tiler(const Json& j);
bool is_composed(const Json& j);
lay::Swizzle as_swizzle(const Json& j);

// The same value of a layout: 0 is any zero coordinate written short, and modes that are missing
// are 0.
bool same_value(const lay::Tuple& a, const lay::Tuple& b);

// CuTe's own result; nothing if it rejects the case.
std::optional<Outcome> expected_of(const Case& c);

}  // namespace conformance
