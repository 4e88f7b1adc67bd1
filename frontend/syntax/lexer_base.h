#pragma once
// The part of the lexer that its rules cannot say: whether `//` divides or begins a comment.

#include <antlr4-runtime.h>

#include <cstddef>
#include <memory>

namespace lay::syntax {

// `//` divides between operands on a line, when at most one blank stands before it and something
// follows: a // b. Anywhere else it begins a comment: at the start of a line, after two blanks,
// after an operator.
class LexerBase : public antlr4::Lexer {
 public:
  using antlr4::Lexer::Lexer;

  std::unique_ptr<antlr4::Token> nextToken() override;

 private:
  // The comment that begins at the input's place, or null.
  std::unique_ptr<antlr4::Token> comment();
  // Passes blanks. They and comments are half of a text, and the automaton takes hundreds of
  // instructions for a character.
  void pass_blanks();

  // The last word ends an operand.
  bool operand_before_ = false;
};

}  // namespace lay::syntax
