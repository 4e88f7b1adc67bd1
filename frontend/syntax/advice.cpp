#include "frontend/syntax/advice.h"

#include <utility>

#include "grammar/LayLexer.h"

namespace lay::syntax {
namespace {

using generated::LayLexer;

class Adviser {
 public:
  explicit Adviser(const Mistake& mistake) : m_(mistake) {}

  std::string run() const {
    if (!m_.before) return at_start();
    if (std::string text = in_construct(); !text.empty()) return text;
    return behind_expression();
  }

 private:
  bool expects(std::size_t type) const { return m_.expected.contains(static_cast<ssize_t>(type)); }
  bool found(std::size_t type) const { return m_.found == type; }

  std::string at_start() const {
    switch (m_.found) {
      case LayLexer::FOR:
        return "repetition is a comprehension: [a(i) for i in 0..4]";
      case LayLexer::THEN:
      case LayLexer::ELSE:
        return "a condition is written `if a then b else c`";
      case LayLexer::WHERE:
      case LayLexer::WHEN:
      case LayLexer::LEFT_BRACE:
        return "this belongs to a kernel, record or schedule before it";
      default:
        return "to go on from the line before, end that line with the operator";
    }
  }

  // The form of the construct that is being read.
  std::string in_construct() const {
    switch (m_.head) {
      case LayLexer::KERNEL:
        if (expects(LayLexer::ARROW)) return "a kernel names its outputs: -> C: f32 (M,N):(N,1)";
        if (expects(LayLexer::COLON) && !expects(LayLexer::PLUS)) {
          return "a parameter or output is written NAME: TYPE layout, as in A: f32 (M,K):(K,1)";
        }
        if (expects(LayLexer::LEFT_BRACE) && found(LayLexer::COMMA))
          return "several outputs are written in parentheses: -> (Y: f32 M:1, Z: f32 M:1)";
        if (expects(LayLexer::LEFT_BRACE)) return "the body of a kernel is written between { and }";
        break;
      case LayLexer::SCHEDULE:
        if (expects(LayLexer::FOR))
          return "write schedule KERNEL for TARGET { ... }, or schedule KERNEL for M = 4096";
        break;
      case LayLexer::DEF:
        if (expects(LayLexer::ASSIGN) || expects(LayLexer::LEFT_PAREN))
          return "write def f(x, y) = expression";
        break;
      case LayLexer::LET:
        if (found(LayLexer::LEFT_PAREN) && m_.before == LayLexer::LET) return "let names one value";
        if (found(LayLexer::EQUAL) && expects(LayLexer::ASSIGN)) return "write `let NAME = ...`";
        break;
      case LayLexer::DIM:
        if (found(LayLexer::NAME)) return "write dim M, N";
        break;
      case LayLexer::USE:
        if (found(LayLexer::DIVIDE))
          return "write use atoms.sm90 for the library, use \"mine.lay\" for a file";
        break;
      default:
        break;
    }
    return in_brackets();
  }

  std::string in_brackets() const {
    if (expects(LayLexer::LEFT_BRACKET) && !expects(LayLexer::PLUS) &&
        !expects(LayLexer::INTEGER)) {
      return "a kernel assigns elements: " + std::string(m_.last) + "[m,n] = ...";
    }
    if (expects(LayLexer::ASSIGN) && m_.before == LayLexer::RIGHT_BRACKET) {
      return "each element of an output is assigned once, with =";
    }
    if (expects(LayLexer::FOR) && found(LayLexer::COMMA))
      return "a tuple is written in parentheses: (1,2,3)";
    if (expects(LayLexer::RANGE)) return "a comprehension runs over a range: [a(i) for i in 0..4]";
    if (expects(LayLexer::COMMA) && found(LayLexer::GREATER))
      return "a swizzle is written Sw<bits,base,shift>";
    if (expects(LayLexer::ELSE)) return "every `if a then b` has an `else c`";
    return "";
  }

  // The statement is complete, yet something follows.
  std::string behind_expression() const {
    if (!expects(LayLexer::NEWLINE)) return "";
    switch (m_.found) {
      case LayLexer::ASSIGN:
        if (m_.head == LayLexer::NAME && m_.last == m_.first) {
          return "write `let " + std::string(m_.first) + " = ...` to name a value, `==` to compare";
        }
        return "write `==` to compare";
      case LayLexer::COLON:
        return "`:` does not chain: put one layout in parentheses";
      case LayLexer::COMMA:
        return "a tuple is written in parentheses: (1,2)";
      case LayLexer::THEN:
      case LayLexer::ELSE:
        return "a condition is written `if a then b else c`";
      default:
        return "";
    }
  }

  const Mistake& m_;
};

}  // namespace

std::string advice(const Mistake& mistake) {
  return Adviser(mistake).run();
}

std::string_view statement_meant_by(std::string_view word) {
  static constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {
      {"import", "use"},     {"include", "use"},   {"require", "use"}, {"from", "use"},
      {"fn", "def"},         {"func", "def"},      {"fun", "def"},     {"function", "def"},
      {"var", "let"},        {"const", "let"},     {"val", "let"},     {"set", "let"},
      {"auto", "let"},       {"int", "let"},       {"float", "let"},   {"double", "let"},
      {"bool", "let"},       {"constexpr", "let"}, {"lambda", "def"},  {"println", "print"},
      {"echo", "print"},     {"printf", "print"},  {"puts", "print"},  {"struct", "record"},
      {"class", "record"},   {"symbol", "dim"},    {"sym", "dim"},     {"check", "assert"},
      {"require", "assert"}, {"draw", "show"},     {"plot", "show"}};
  for (const auto& [other, ours] : kMeanings) {
    if (word == other) return ours;
  }
  return {};
}

}  // namespace lay::syntax
