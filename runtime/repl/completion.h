// The completions that Tab offers in the REPL. The prefix before the cursor decides:
//
//   coal         names and keywords, with their signatures
//   f(           the signature and law of f
//   sm80.cp      fields of a record
//   "data/x      paths, also after :load and :save
//   :ex          commands
//   ?bank        pages of the help
//   use atoms.   libraries
#pragma once

#include <span>
#include <string_view>

#include "frontend/sema/evaluator.h"
#include "runtime/repl/line_editor.h"

namespace lay::runtime {

// Returns the commands that begin with `:`, sorted.
std::span<const std::string_view> repl_commands();

// Returns what may replace the prefix that ends at the cursor.
Completions complete_line(const sema::Evaluator& evaluator, std::string_view text,
                          std::size_t cursor);

}  // namespace lay::runtime
