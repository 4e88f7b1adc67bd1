#include "frontend/syntax/recovery.h"

#include <algorithm>
#include <optional>

#include "frontend/syntax/messages.h"
#include "grammar/LayParser.h"

namespace lay::syntax {
namespace {

using generated::LayParser;

bool is_line_in_braces(std::size_t rule) {
  return rule == LayParser::RuleField_line || rule == LayParser::RuleBody_line ||
         rule == LayParser::RuleEntry_line;
}

// Returns the words that may begin a line between braces; nothing for other rules.
std::optional<antlr4::misc::IntervalSet> beginnings(std::size_t rule) {
  const bool body = rule == LayParser::RuleKernel_body;
  if (!body && rule != LayParser::RuleRecord_body && rule != LayParser::RuleSchedule_body)
    return std::nullopt;
  antlr4::misc::IntervalSet set;
  for (const std::size_t type :
       {LayParser::NAME, LayParser::NEWLINE, LayParser::SEMICOLON, LayParser::RIGHT_BRACE}) {
    set.add(static_cast<ssize_t>(type));
  }
  set.add(static_cast<ssize_t>(body ? LayParser::LET : LayParser::COMMA));
  return set;
}

}  // namespace

void Recovery::report(antlr4::Parser* parser, std::size_t index,
                      const antlr4::misc::IntervalSet& expected) {
  const std::size_t type = parser->getTokenStream()->get(index)->getType();
  const bool reported_as_word =
      type == LayParser::UNKNOWN || type == LayParser::OPEN_TEXT || type == LayParser::BAD_NUMBER;
  if (!reported_as_word) diagnostics_.add(describe({file_, text_, words_, index, expected}));
}

void Recovery::reportError(antlr4::Parser* parser, const antlr4::RecognitionException& e) {
  if (recovering_) return;
  recovering_ = true;
  report(parser, e.getOffendingToken()->getTokenIndex(), e.getExpectedTokens());
}

void Recovery::recover(antlr4::Parser* parser, std::exception_ptr e) {
  const std::size_t rule = parser->getRuleContext()->getRuleIndex();
  if (rule != LayParser::RuleLine && !is_line_in_braces(rule)) std::rethrow_exception(e);
  skip_line(parser, is_line_in_braces(rule));
  recovering_ = false;
}

antlr4::Token* Recovery::recoverInline(antlr4::Parser* parser) {
  throw antlr4::InputMismatchException(parser);
}

void Recovery::sync(antlr4::Parser* parser) {
  const auto expected = beginnings(parser->getRuleContext()->getRuleIndex());
  if (!expected) return;
  for (;;) {
    const std::size_t next = parser->getTokenStream()->LA(1);
    if (next == antlr4::Token::EOF || expected->contains(next)) return;
    report(parser, parser->getTokenStream()->index(), *expected);
    skip_line(parser, true);
  }
}

void Recovery::skip_statement(antlr4::Parser* parser) {
  recovering_ = false;
  skip_line(parser, false);
}

// Returns how many parentheses and brackets of the line are open before the word.
int Recovery::open_brackets(std::size_t index) const {
  int open = 0;
  for (std::size_t i = std::min(index, words_.size()); i-- > 0;) {
    const std::size_t type = words_[i].type;
    if (type == LayParser::NEWLINE || type == LayParser::SEMICOLON || type == LayParser::LEFT_BRACE)
      break;
    if (type == LayParser::LEFT_PAREN || type == LayParser::LEFT_BRACKET) ++open;
    if (type == LayParser::RIGHT_PAREN || type == LayParser::RIGHT_BRACKET) --open;
  }
  return open;
}

void Recovery::skip_line(antlr4::Parser* parser, bool inside_braces) {
  antlr4::TokenStream* tokens = parser->getTokenStream();
  int brackets = open_brackets(tokens->index());
  for (int depth = 0;;) {
    const std::size_t type = tokens->LA(1);
    if (type == antlr4::Token::EOF) return;
    const bool comma = inside_braces && brackets <= 0 && type == LayParser::COMMA;
    const bool separates = comma || type == LayParser::NEWLINE || type == LayParser::SEMICOLON;
    if (type == LayParser::LEFT_PAREN || type == LayParser::LEFT_BRACKET) ++brackets;
    if (type == LayParser::RIGHT_PAREN || type == LayParser::RIGHT_BRACKET) --brackets;
    if (depth == 0 && inside_braces && type == LayParser::RIGHT_BRACE) return;
    if (type == LayParser::LEFT_BRACE) ++depth;
    if (type == LayParser::RIGHT_BRACE && depth > 0) --depth;
    tokens->consume();
    if (depth == 0 && separates) return;
  }
}

}  // namespace lay::syntax
