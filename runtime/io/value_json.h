// Values as JSON: the forms of `lay eval`.
//
//   (4,2):(1,4)     "kind":"layout","text":"(4,2):(1,4)","shape":[4,2],"stride":[1,4]
//   (4,(2,3))       "kind":"tuple","text":"(4,(2,3))","value":[4,[2,3]]
//
// Literal integers are numbers; symbolic ones, basis elements and `_` are strings in Lay's
// notation.
#pragma once

#include <string>
#include <vector>

#include "frontend/algebra/tuples/tuple.h"
#include "frontend/sema/values/value.h"
#include "runtime/io/json.h"

namespace lay::runtime {

std::string to_json(const Int& value);
std::string to_json(const Tuple& value);
// {"M":3,"N":2}
std::string to_json(const Sizes& sizes);
// ["M % 4 == 0"]
std::string to_json(const std::vector<Guard>& guards);

// Adds "kind" and what belongs to the kind; guards are not its subject.
void describe(JsonObject& object, const sema::Value& value);

}  // namespace lay::runtime
