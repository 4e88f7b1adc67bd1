#pragma once
// The part of the parser that its rules cannot say: a limit to how deep expressions nest, so that
// no text can overflow the stack.

#include <antlr4-runtime.h>

#include <cstddef>

namespace lay::syntax {

// Thrown through the parser; the current token is where the limit was passed.
struct TooDeep {};

class ParserBase : public antlr4::Parser {
 public:
  using antlr4::Parser::Parser;

  void enterRecursionRule(antlr4::ParserRuleContext* context, std::size_t state, std::size_t rule,
                          int precedence) override;
  void unrollRecursionContexts(antlr4::ParserRuleContext* parent) override;

  void limit_depth(int limit) { limit_ = limit; }

 private:
  int depth_ = 0;
  int limit_ = 0;
};

}  // namespace lay::syntax
