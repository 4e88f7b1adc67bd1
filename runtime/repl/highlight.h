// Colours for Lay text while it is typed. The text is scanned here rather than by the parser: half
// a statement must have colours too, and a keystroke must cost microseconds.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/repl/line_editor.h"

namespace lay::runtime {

// Returns the keywords of the grammar, sorted.
const std::vector<std::string_view>& keywords();

// Returns the styles of keywords, numbers, strings and comments, in order. Any text is accepted.
std::vector<Style> highlight(std::string_view text);

}  // namespace lay::runtime
