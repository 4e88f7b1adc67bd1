// Colours for Lay text while it is typed.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/repl/line_editor.h"

namespace lay::runtime {

// The words that the grammar keeps for itself, sorted.
const std::vector<std::string_view>& keywords();

// Keywords, numbers, strings and comments. Text of any kind is accepted, also half a statement.
std::vector<Style> highlight(std::string_view text);

}  // namespace lay::runtime
