// What Tab offers in the REPL: names and words that begin as what is typed does, paths inside a
// string, commands after
// `:`, pages after `?`; below them the signatures, and inside a call with nothing typed yet the
// signature of what is called.
#pragma once

#include <span>
#include <string_view>

#include "frontend/sema/evaluator.h"
#include "runtime/repl/line_editor.h"

namespace lay::runtime {

// Those that begin with `:`, sorted.
std::span<const std::string_view> repl_commands();

Completions complete_line(const sema::Evaluator& evaluator, std::string_view text,
                          std::size_t cursor);

}  // namespace lay::runtime
