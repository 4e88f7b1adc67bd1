#pragma once
// Words for what the parser found: which token stands where which were expected -> a Diagnostic
// that says what to write.

#include <antlr4-runtime.h>

#include <string_view>
#include <vector>

#include "frontend/source/diagnostic.h"
#include "frontend/syntax/words.h"

namespace lay::syntax {

struct Unexpected {
  int file;
  std::string_view text;
  const std::vector<Word>& words;  // filtered
  std::size_t index;               // of the word that cannot stand there; words.size() at the end
  const antlr4::misc::IntervalSet& expected;
};
Diagnostic describe(const Unexpected& where);

}  // namespace lay::syntax
