#pragma once
// String literals: "..." with the escapes \\ \" \n \t.

#include <string>
#include <string_view>

namespace lay::syntax {

std::string string_value(
    std::string_view literal);  // of a literal with its quotes; unknown escapes were reported
// The literal that means the value.
std::string string_literal(std::string_view value);

}  // namespace lay::syntax
