#pragma once
// String literals: "..." with the escapes \\ \" \n \t.

#include <string>
#include <string_view>

namespace lay::syntax {

std::string string_value(
    std::string_view literal);  // of a literal with its quotes; unknown escapes were reported
std::string string_literal(std::string_view value);  // the literal that means the value

}  // namespace lay::syntax
