// The texts behind `lay help`, embedded by cmake/help.cmake: the pages of docs/, tests/errors/*.
#pragma once

#include <string_view>

namespace lay::runtime {

// Empty where there is no such file.
std::string_view help_file(std::string_view path);

}  // namespace lay::runtime
