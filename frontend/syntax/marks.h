#pragma once
// What the formatter knows of each word: the role of brackets, colons and signs, and where
// statements begin.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "frontend/syntax/words.h"

namespace lay::syntax {

enum class Bracket : std::uint8_t {
  none,
  group,    // (a + b)
  tuple,    // (a,b)
  call,     // f(a, b), and the parameters of a def, record or kernel
  index,    // x[0,1]
  list,     // [a for i in 0..4]
  angle,    // Sw<3,4,3>
  generic,  // kernel f<M, N>
  brace,    // { ... }
};

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

struct Mark {
  Bracket bracket = Bracket::none;  // of a bracket, opening or closing
  std::size_t partner = kNowhere;   // the other bracket of the pair
  std::size_t inside = kNowhere;    // the innermost bracket around this word
  bool begins_statement = false;    // or entry, or field
  bool sign = false;                // a unary minus
  bool names_type = false;          // the colon of NAME: TYPE
  bool wide = false;  // a layout's colon with blanks, next to an operator that binds tighter
};

// One mark for each word of `words`, which are the significant words of a text without syntax
// errors: no comments, no newlines. `begins` tells which of them begin a statement.
std::vector<Mark> mark(const std::vector<Word>& words, const std::vector<bool>& begins);

// The last word of an operand stands there: a name, a literal, a closing bracket.
bool ends_operand(const Word& word, const Mark& mark);

}  // namespace lay::syntax
