#pragma once

// The vectors of tests/conformance: results of NVIDIA CuTe (C++, CUTLASS 4.7.0) on static integers, one JSON object a
// line:
// {"id", "op", "in": [operands], "args": {...}, "static": result}. A layout is {"shape", "stride"}, a basis stride
// "2@0" (last index outermost), "_" the underscore. A result is a layout, a composed layout, a value, a swizzle, or
// {"error": true, "reason"} where CuTe does not compile the expression.

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/algebra/operations.h"

namespace conformance {

using Json = nlohmann::json;

struct Case {
  std::string id;
  std::string op;
  std::vector<Json> in;
  Json args;
  Json expected;
};

std::vector<Case> read_cases(const std::string& path);

// What an operation gives: a layout (and the offset of a slice), a value or a swizzle.
struct Outcome {
  std::variant<lay::AnyLayout, lay::Tuple, lay::Swizzle> result;
  lay::Tuple offset = 0;
};

lay::Tuple as_tuple(const Json& j);
lay::Layout as_layout(const Json& j);
lay::Composed as_composed(const Json& j);
lay::Tiler as_tiler(const Json& j);

// CuTe's own result; nothing if it rejects the case.
std::optional<Outcome> expected_of(const Case& c);
// Puts symbols for the numbers of operands: one for each number from 2 up, with what divides what as facts.
class Lift {
 public:
  Lift(lay::Facts& facts, bool strides) : facts_(facts), strides_(strides) {}
  lay::Layout lift(const lay::Layout& a);
  lay::Tuple lift(const lay::Tuple& t);
  lay::Tiler lift(const lay::Tiler& t);
  // The numbers back in place of the symbols.
  lay::Layout lower(const lay::Layout& a) const;
  bool hold(const std::vector<lay::Guard>& guards) const;

 private:
  lay::Facts& facts_;
  bool strides_;
  std::map<int64_t, lay::Int> symbols_;
};

// Ours; throws lay::Refusal. Nothing if the operation is not in the table. With a lift: on symbols.
std::optional<Outcome> run(lay::Facts& facts, const Case& c, Lift* lift = nullptr);

// Whether the result keeps the law of the operation (operations.h), where this test can say so without the operation
// itself: compositions and divides, by the values of A(B(i)).
std::optional<bool> keeps_law(const Case& c, const Outcome& outcome);

}  // namespace conformance
