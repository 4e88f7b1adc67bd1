#pragma once
// The formatter's knowledge of each word: the role of brackets, colons and signs, and where
// statements begin.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "frontend/syntax/words.h"

namespace lay::syntax {

// The kinds of brackets, which are spaced and broken differently.
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

// The role of one word, beside its text.
struct Mark {
  Bracket bracket = Bracket::none;  // of a bracket, opening or closing
  // The other bracket of the pair.
  std::size_t partner = kNowhere;
  // The innermost bracket around this word.
  std::size_t inside = kNowhere;
  bool begins_statement = false;  // or entry, or field
  bool sign = false;              // a unary minus
  // The colon of NAME: TYPE.
  bool names_type = false;
  // A layout's colon with blanks, next to an operator that binds tighter.
  bool wide = false;
};

// One mark for each word of `words`, which are the significant words of a text without syntax
// errors: no comments, no newlines. `begins` tells which of them begin a statement.
std::vector<Mark> mark(const std::vector<Word>& words, const std::vector<bool>& begins);

// The last word of an operand stands there: a name, a literal, a closing bracket.
bool ends_operand(const Word& word, const Mark& mark);

}  // namespace lay::syntax
