// Pages: of every error code, with the program that fails, its message and the cure, of every
// operation, with its law and examples, and of the words and signs of the language. They stand in
// docs/errors.md, docs/operations.md and docs/words.md, one section a page:
//
//   # Layouts
//   ## composition-carry
//   Two modes of the right side move in one mode of the left side, ...
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/sema/evaluator.h"

namespace lay::runtime {

struct HelpSection {
  std::string group, name, text;
};
// The sections of a text, in order.
std::vector<HelpSection> help_sections(std::string_view text);

// Of an error code; nothing where it has none.
std::optional<std::string> error_page(const std::string& code);
// Of a builtin or def: signature, law, examples. Nothing where nothing has that name.
std::optional<std::string> operation_page(const std::string& name,
                                          const sema::Evaluator& evaluator);
// Of a statement or sign, such as `let` or `//`.
std::optional<std::string> word_page(std::string_view word);
// One of the three; a diagnostic `unknown-name` with the nearest name otherwise.
std::string help_page(const std::string& topic, const sema::Evaluator& evaluator);

// All topics by group, and their names.
std::string help_index();
std::vector<std::string> help_topics();

// Text filled to lines of so many columns; blank lines separate paragraphs.
std::string filled(std::string_view text, std::size_t columns, const std::string& indent);

}  // namespace lay::runtime
