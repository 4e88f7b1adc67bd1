#pragma once

// Integers as code: literal, or an expression in run-time sizes, with the value that Lay gives it.

#include <string>

#include "frontend/algebra/layouts/layout.h"

namespace lay::exports {

enum class Code : uint8_t { cpp, python };

// The integer as an expression. `M/128` is exact where it stands; `floor_div(a, b)` is a helper in
// C++ (floor_div_helper).
std::string code_of(const Int& value, Code code);

// The C++ text of floor_div, for expressions that use it.
extern const char* const floor_div_helper;

// A name of a size that is none of the words of the language.
std::string size_name(const std::string& name, Code code);

// Returns true if the form alone shows that `value` is at least 0, as sizes are.
bool seen_not_negative(const Int& value);

}  // namespace lay::exports
