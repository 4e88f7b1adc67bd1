#pragma once
// The part of the lexer that its rules cannot say: whether `//` divides or begins a comment.

#include <antlr4-runtime.h>

#include <cstddef>
#include <memory>

namespace lay::syntax {

class LexerBase : public antlr4::Lexer {
 public:
  using antlr4::Lexer::Lexer;

  std::unique_ptr<antlr4::Token> nextToken() override;

 protected:
  // Called with the input behind `//`. It divides where an operand ends on the line with at most
  // one blank between and something other than a comment follows on the line.
  bool begins_comment();

 private:
  // The last word ends an operand.
  bool operand_before_ = false;
};

}  // namespace lay::syntax
