// The algebra's values inside these texts: integers over sizes, conditions on them, tuples,
// layouts.
#pragma once

#include <map>
#include <string>

#include "backend/notation/cursor.h"
#include "frontend/algebra/integers/predicate.h"
#include "frontend/algebra/layouts/layout.h"

namespace lay::notation {

// The algebra's own operations make what is read, so that a text gives what it was printed from.
class LayoutParser {
 public:
  explicit LayoutParser(Cursor& cursor) : cursor_(cursor) {}

  // The sizes that are declared so far.
  std::map<std::string, Int> sizes;

  Int integer();          // "ceil_div(M,128)*K + 1"
  Predicate predicate();  // "M % 4 == 0 and K <= lda"
  Tuple tuple();          // "(4,(2,3))", "(1@0,2@1)"
  Layout plain_layout();  // "(4,2):(1,4)"
  AnyLayout layout();     // that, or "Sw<3,3,3> o 0 o (8,64):(64,1)"
  Swizzle swizzle();

 private:
  // Levels of precedence, loosest first.
  Tuple sum();
  Tuple product();
  Tuple negated();
  Tuple postfix();
  Tuple primary();
  Tuple parenthesised();
  Int call(const std::string& function);
  Int selection();
  Int known_integer(const Tuple& value, const Token& at) const;
  Predicate conjunction();
  Predicate condition();
  Predicate comparison();

  // A Refusal of the algebra is an error at this token.
  template <class F>
  auto at(const Token& token, F f);

  Cursor& cursor_;
  // `a % b` where that was the whole of the sum just parsed: `a % b == 0` is a divisibility.
  struct Remainder {
    Int a, b;
  };
  std::optional<Remainder> remainder_;
};

}  // namespace lay::notation
