#pragma once
// Text -> words: the lexer, and the filter that decides which newlines end a statement. Only
// sources of this folder include it; the types of words are those of the generated lexer.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "frontend/source/diagnostic.h"
#include "frontend/syntax/parse.h"

namespace lay::syntax {

struct Word {
  std::size_t type = 0;  // LayLexer::NAME ...
  // Bytes; an inserted NEWLINE is empty and stands at the end of the word before it.
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool first_on_line = false;
};

// All words of a text, with comments and every newline, in order. The text must be UTF-8 without
// NUL.
std::vector<Word> lex(std::string_view text);

// Reports what is no text (NUL, bytes that are not UTF-8, too long a file). False if it cannot be
// lexed.
bool check_text(int file, std::string_view text, const Limits& limits, Diagnostics& diagnostics);

// Reports words that no statement can hold: unknown characters, open strings, numbers and names out
// of range.
void check_words(int file, std::string_view text, const std::vector<Word>& words,
                 Diagnostics& diagnostics);

// The words that the parser reads: no comments, and a NEWLINE only where it ends a statement,
// before each `}` and at the end.
//
// A newline ends a statement unless it stands inside ( [ or <, after an infix operator, `=`, `,`,
// `->`, `then`, `else`, or before `{`, `where`, `->`, `then`, `else`. A line that begins with a
// word like `let` or `kernel`, which cannot stand inside brackets, ends whatever was left open
// before it, so that one missing bracket is one error.
struct Filtered {
  std::vector<Word> words;
  // Brackets that are open at the end of the text.
  std::vector<Word> open;
  // The text ends in a word that demands another.
  bool wants_more = false;
  // A bracket was closed that was not open.
  bool mismatch = false;
  // The first bracket beyond the limit; words end there.
  std::optional<Word> too_deep;
};
Filtered filter_newlines(const std::vector<Word>& words, int bracket_limit);

}  // namespace lay::syntax
