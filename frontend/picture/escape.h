#pragma once

// Text of a script as text of a target: no markup comes of it.

#include <string>
#include <string_view>

namespace lay::picture {

std::string xml(std::string_view text);  // & < > " ', control characters as U+FFFD
std::string tex(
    std::string_view text);  // all that TeX reads as commands; what is not ASCII by name, or as ?
std::string plain(std::string_view text);  // for a terminal: control characters as \x1b,
                                           // bidirectional ones as \u{202e}

}  // namespace lay::picture
