#include "frontend/syntax/lexer_base.h"

#include "grammar/LayLexer.h"

namespace lay::syntax {

using generated::LayLexer;

std::unique_ptr<antlr4::Token> LexerBase::nextToken() {
  std::unique_ptr<antlr4::Token> next = antlr4::Lexer::nextToken();
  switch (next->getType()) {
    case LayLexer::NAME:
    case LayLexer::INTEGER:
    case LayLexer::FLOAT:
    case LayLexer::CUTE:
    case LayLexer::UNDERSCORE:
    case LayLexer::STRING:
    case LayLexer::RIGHT_PAREN:
    case LayLexer::RIGHT_BRACKET:
    case LayLexer::GREATER:
      operand_before_ = true;
      break;
    default:
      operand_before_ = false;
  }
  return next;
}

bool LexerBase::begins_comment() {
  const auto blank = [](std::size_t c) { return c == ' ' || c == '\t'; };
  if (!operand_before_) return true;
  if (_input->LA(-3) == '\t' || (_input->LA(-3) == ' ' && blank(_input->LA(-4)))) return true;
  for (ssize_t ahead = 1;; ++ahead) {
    const std::size_t c = _input->LA(ahead);
    if (blank(c)) continue;
    return c == '\n' || c == antlr4::IntStream::EOF;
  }
}

}  // namespace lay::syntax
