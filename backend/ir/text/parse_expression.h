// Expressions of the IR's text, over the names in scope.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend/ir/build.h"
#include "backend/notation/cursor.h"
#include "backend/notation/parse_layout.h"

namespace lay::ir {

using notation::Cursor;
using notation::LayoutParser;
using notation::Token;
using notation::TokenKind;

// Precedence climbing: one function for each level, loosest first.
class ExpressionParser {
 public:
  ExpressionParser(Cursor& cursor, Builder& builder)
      : layouts(cursor), cursor_(cursor), builder_(builder) {}

  // An expression, an element of a buffer, and a buffer's name.
  Term expression();
  Ref ref();
  BufferId buffer();

  // The meanings of names. Variables have scopes, the innermost last.
  LayoutParser layouts;
  std::map<std::string, Term> scalars;
  std::map<std::string, BufferId> buffers;
  std::map<std::string, RingId> rings;
  std::vector<std::map<std::string, VarId>> scopes{{}};

 private:
  Term conjunction();
  Term negation();
  Term comparison();
  Term sum();
  Term product();
  Term unary();
  Term primary();
  Term call();
  // `f32 1.0`: what is written behind a type.
  Term typed(ElementType type);
  Term literal(ElementType type);
  Term named();
  Term ring_value();
  Term apply(const Token& at, ElementFunction function, std::vector<Term> operands,
             ElementType asked = {});

  Cursor& cursor_;
  Builder& builder_;
};

}  // namespace lay::ir
