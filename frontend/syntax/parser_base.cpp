#include "frontend/syntax/parser_base.h"

namespace lay::syntax {

void ParserBase::enterRecursionRule(antlr4::ParserRuleContext* context, std::size_t state,
                                    std::size_t rule, int precedence) {
  if (depth_ >= limit_) throw TooDeep{};
  ++depth_;
  antlr4::Parser::enterRecursionRule(context, state, rule, precedence);
}

void ParserBase::unrollRecursionContexts(antlr4::ParserRuleContext* parent) {
  --depth_;
  antlr4::Parser::unrollRecursionContexts(parent);
}

}  // namespace lay::syntax
