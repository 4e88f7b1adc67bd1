// Typed and pasted text, prepared for evaluation. A session that was copied from a terminal or a
// page can be pasted as it is:
//
//   lay> let a = (4,2):(1,4)          let a = (4,2):(1,4)
//   lay> a(3,                   ->    a(3,
//      > 1)                           1)
//   r1 = 7
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lay::runtime {

// The prompts of the REPL before a statement, and before each further line of it.
inline constexpr std::string_view statement_prompt = "lay> ";
inline constexpr std::string_view continuation_prompt = "   > ";

// Removes the prompts of a copied session, and the answers between them. A text is a copied session
// when its first line has the prompt, so that every line without one is an answer. Returns any
// other text unchanged.
std::string without_prompts(std::string_view text);

// Splits a text into what is evaluated one after the other. A command, `:show a` or `?o`, is a line
// of its own; the statements between two commands stay together.
std::vector<std::string> split_commands(std::string_view text);

// Returns whether the last statement is unfinished: a bracket is open, or an operand is missing.
bool needs_more_input(std::string_view text);

// Joins the lines of a pipe or a terminal without editing to statements.
class LineCollector {
 public:
  // `drops_answers`: where the first line has a prompt, lines without one are ignored.
  explicit LineCollector(bool drops_answers) : drops_answers_(drops_answers) {}

  // Adds a line; returns whether text() is complete. An empty line completes what is open.
  bool add(std::string_view line);

  const std::string& text() const { return text_; }
  bool is_open() const { return open_; }
  void clear();

 private:
  bool drops_answers_;
  // No line with text came yet.
  bool first_ = true;
  // The first line had a prompt.
  bool transcript_ = false;
  bool open_ = false;
  std::string text_;
};

}  // namespace lay::runtime
