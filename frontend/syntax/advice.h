#pragma once
// The next step for the mistakes that people make: what to write instead.

#include <optional>
#include <string>
#include <string_view>

#include "frontend/syntax/messages.h"

namespace lay::syntax {

struct Mistake {
  // Type of the statement's first word.
  std::size_t head;
  // Type of the word before the one that cannot stand there, of this statement.
  std::optional<std::size_t> before;
  std::size_t found;  // its own type
  // The statement's first word; the word before.
  std::string_view first, last;
  const antlr4::misc::IntervalSet& expected;
};

// Empty where nothing helpful can be said.
std::string advice(const Mistake& mistake);

// The statement that a word of another language stands for: "import" -> "use".
std::string_view statement_meant_by(std::string_view word);

}  // namespace lay::syntax
