// The tokens of the texts of tile programs and of the kernel IR, and a place among them.
//
// Tokens: names (`any text` in backquotes is a name too, never a word), numbers, "strings", and
// signs. `#` starts a comment. A number with a point or an exponent is real; `0..8` is two integers
// and a range sign.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace lay::notation {

// The first place where a text is not what it should be. Lines and columns count from 1, columns in
// bytes.
struct ParseError : std::exception {
  ParseError(int at_line, int at_column, const std::string& what_is_wrong);
  int line = 0, column = 0;
  std::string message;  // one lower-case sentence
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;  // "3:14: expected `=`, found `+`"
};

enum class TokenKind : std::uint8_t { word, name, integer, real, string, sign, end };

// One token and its place in the text.
struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;  // of names and strings without their quotes
  int line = 1, column = 1;
  // A blank stands before it: `1@0` is a basis element, `1  @3` an integer and an origin.
  bool spaced = false;
};

// Throws ParseError.
std::vector<Token> lex(std::string_view text);

// A place among the tokens. Each function that reads takes what it returns.
class Cursor {
 public:
  explicit Cursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  // The token that stands here, or further on.
  const Token& peek(size_t ahead = 0) const;
  Token take();
  // A word or sign stands here; names in backquotes are no words.
  bool at(std::string_view text, size_t ahead = 0) const;
  // Takes the word or sign if it stands here; `expect` fails where it does not.
  bool accept(std::string_view text);
  void expect(std::string_view text);

  std::string name();    // a word or a name
  std::string string();  // a string literal
  // With its sign; exact in 64 bits.
  std::int64_t integer();
  int small_integer();  // in the range of int

  // Throws ParseError at the token that stands here, or at another one.
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail(const std::string& message, const Token& at) const;

  // The position after the parenthesis that closes the one that stands here.
  size_t after_parenthesis() const;

  // Nesting is limited, so that no text overflows the stack.
  class Nested {
   public:
    explicit Nested(Cursor& cursor);
    ~Nested() { --cursor_.depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Cursor& cursor_;
  };

 private:
  std::vector<Token> tokens_;  // the last one is `end`
  size_t position_ = 0;
  int depth_ = 0;
};

}  // namespace lay::notation
