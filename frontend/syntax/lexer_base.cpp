#include "frontend/syntax/lexer_base.h"

#include "grammar/LayLexer.h"

namespace lay::syntax {

using generated::LayLexer;

namespace {

bool is_slash(std::size_t c) {
  return c == '/';
}

bool is_blank(std::size_t c) {
  return c == ' ' || c == '\t';
}

bool ends_line(std::size_t c) {
  return c == '\n' || c == antlr4::IntStream::EOF;
}

}  // namespace

std::unique_ptr<antlr4::Token> LexerBase::nextToken() {
  pass_blanks();
  std::unique_ptr<antlr4::Token> next = comment();
  if (!next) next = antlr4::Lexer::nextToken();
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

void LexerBase::pass_blanks() {
  while (is_blank(_input->LA(1))) _input->consume();
}

std::unique_ptr<antlr4::Token> LexerBase::comment() {
  if (!(is_slash(_input->LA(1)) && is_slash(_input->LA(2)))) return nullptr;
  const bool two_blanks =
      _input->LA(-1) == '\t' || (_input->LA(-1) == ' ' && is_blank(_input->LA(-2)));
  if (operand_before_ && !two_blanks) {
    ssize_t behind = 3;
    while (is_blank(_input->LA(behind))) ++behind;
    if (!ends_line(_input->LA(behind))) return nullptr;
  }
  auto passed = std::make_unique<antlr4::CommonToken>(LayLexer::COMMENT);
  passed->setStartIndex(_input->index());
  while (!ends_line(_input->LA(1))) _input->consume();
  passed->setStopIndex(_input->index() - 1);
  return passed;
}

}  // namespace lay::syntax
