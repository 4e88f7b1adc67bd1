#pragma once

// Text of a script as text of a target: no markup comes of it.

#include <string>
#include <string_view>

namespace lay::picture {

// & < > " ', control characters as U+FFFD.
std::string xml(std::string_view text);
// All that TeX reads as commands; what is not ASCII by name, or as ?
std::string tex(std::string_view text);
// For a terminal: control characters as \x1b, bidirectional ones as \u{202e}
std::string plain(std::string_view text);

}  // namespace lay::picture
