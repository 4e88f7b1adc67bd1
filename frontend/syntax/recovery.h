#pragma once
// The parser's recovery at a word that cannot stand where it stands: one diagnostic, then on to the
// next statement, entry or field. Inside the rules the exception travels up to the rule of that
// line, which then returns.

#include <antlr4-runtime.h>

#include <exception>
#include <string_view>
#include <vector>

#include "frontend/source/diagnostic.h"
#include "frontend/syntax/words.h"

namespace lay::syntax {

// In place of ANTLR's own strategy, which guesses tokens that are missing.
class Recovery : public antlr4::DefaultErrorStrategy {
 public:
  Recovery(int file, std::string_view text, const std::vector<Word>& words,
           Diagnostics& diagnostics)
      : file_(file), text_(text), words_(words), diagnostics_(diagnostics) {}

  // Called by the parser at a word that it cannot take.
  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException& e) override;
  void recover(antlr4::Parser* parser, std::exception_ptr e) override;
  antlr4::Token* recoverInline(antlr4::Parser* parser) override;
  void sync(antlr4::Parser* parser) override;

  // Reports nothing; skips what is left of the statement and the separator behind it.
  void skip_statement(antlr4::Parser* parser);

 private:
  void report(antlr4::Parser* parser, std::size_t index, const antlr4::misc::IntervalSet& expected);
  // Counts the brackets open before a word: a statement ends at a newline outside of all.
  int open_brackets(std::size_t index) const;
  void skip_line(antlr4::Parser* parser, bool inside_braces);

  int file_;
  std::string_view text_;
  const std::vector<Word>& words_;
  Diagnostics& diagnostics_;
  // An exception is on its way up.
  bool recovering_ = false;
};

}  // namespace lay::syntax
