#include "backend/notation/cursor.h"

#include <array>
#include <charconv>
#include <limits>

namespace lay::notation {
namespace {

constexpr int kDeepest = 200;

bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool digit(char c) {
  return c >= '0' && c <= '9';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  std::vector<Token> run();

 private:
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  void skip_blank();
  void advance() {
    if (text_[position_++] == '\n') ++line_, start_ = position_;
  }
  void emit(TokenKind kind, std::string text, size_t begin) {
    const bool spaced = begin == 0 || text_[begin - 1] == ' ' || text_[begin - 1] == '\n';
    tokens_.push_back({kind, std::move(text), line_, static_cast<int>(begin - start_) + 1, spaced});
  }
  void number();
  void quoted(char quote, TokenKind kind);
  void sign();
  [[noreturn]] void fail(const std::string& message) const {
    throw ParseError(line_, static_cast<int>(position_ - start_) + 1, message);
  }

  std::string_view text_;
  size_t position_ = 0, start_ = 0;  // start of the line
  int line_ = 1;
  std::vector<Token> tokens_;
};

void Lexer::skip_blank() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '#') {
      while (position_ < text_.size() && text_[position_] != '\n') ++position_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      advance();
    } else {
      return;
    }
  }
}

void Lexer::number() {
  const size_t begin = position_;
  while (digit(at(position_))) ++position_;
  bool real = false;
  if (at(position_) == '.' && digit(at(position_ + 1))) {
    real = true;
    ++position_;
    while (digit(at(position_))) ++position_;
  }
  if (at(position_) == 'e' || at(position_) == 'E') {
    const size_t sign = at(position_ + 1) == '-' || at(position_ + 1) == '+' ? 1 : 0;
    if (digit(at(position_ + 1 + sign))) {
      real = true;
      position_ += 1 + sign;
      while (digit(at(position_))) ++position_;
    }
  }
  emit(real ? TokenKind::real : TokenKind::integer,
       std::string(text_.substr(begin, position_ - begin)), begin);
}

void Lexer::quoted(char quote, TokenKind kind) {
  const size_t begin = position_++;
  std::string value;
  while (at(position_) != quote) {
    if (position_ >= text_.size() || text_[position_] == '\n')
      fail("this literal does not end on its line");
    if (kind == TokenKind::string && text_[position_] == '\\') {
      ++position_;
      value += at(position_) == 'n' ? '\n' : at(position_);
    } else {
      value += text_[position_];
    }
    ++position_;
  }
  ++position_;
  emit(kind, std::move(value), begin);
}

void Lexer::sign() {
  constexpr std::array<std::string_view, 8> kPairs{"..", "<-", "+=", "==", "!=", "<=", ">=", "//"};
  for (const std::string_view pair : kPairs) {
    if (text_.substr(position_, 2) == pair) {
      emit(TokenKind::sign, std::string(pair), position_);
      position_ += 2;
      return;
    }
  }
  if (std::string_view("(){}[]<>=,:+-*/%@").find(text_[position_]) == std::string_view::npos) {
    fail("this byte starts no word of the language");
  }
  emit(TokenKind::sign, std::string(1, text_[position_]), position_);
  ++position_;
}

std::vector<Token> Lexer::run() {
  for (skip_blank(); position_ < text_.size(); skip_blank()) {
    const char c = text_[position_];
    if (letter(c)) {
      const size_t begin = position_;
      while (letter(at(position_)) || digit(at(position_))) ++position_;
      emit(TokenKind::word, std::string(text_.substr(begin, position_ - begin)), begin);
    } else if (digit(c)) {
      number();
    } else if (c == '"') {
      quoted('"', TokenKind::string);
    } else if (c == '`') {
      quoted('`', TokenKind::name);
    } else {
      sign();
    }
  }
  emit(TokenKind::end, "", position_);
  return std::move(tokens_);
}

std::string shown(const Token& token) {
  return token.kind == TokenKind::end ? "the end of the text" : "`" + token.text + "`";
}

}  // namespace

ParseError::ParseError(int at_line, int at_column, const std::string& what_is_wrong)
    : line(at_line),
      column(at_column),
      message(what_is_wrong),
      text_(std::to_string(at_line) + ":" + std::to_string(at_column) + ": " + what_is_wrong) {}

std::vector<Token> lex(std::string_view text) {
  return Lexer(text).run();
}

const Token& Cursor::peek(size_t ahead) const {
  return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
}

Token Cursor::take() {
  const Token token = peek();
  if (token.kind != TokenKind::end) ++position_;
  return token;
}

bool Cursor::at(std::string_view text, size_t ahead) const {
  const Token& token = peek(ahead);
  return (token.kind == TokenKind::word || token.kind == TokenKind::sign) && token.text == text;
}

bool Cursor::accept(std::string_view text) {
  if (!at(text)) return false;
  take();
  return true;
}

void Cursor::expect(std::string_view text) {
  if (!accept(text)) fail("expected `" + std::string(text) + "`, found " + shown(peek()));
}

std::string Cursor::name() {
  if (peek().kind != TokenKind::word && peek().kind != TokenKind::name) {
    fail("expected a name, found " + shown(peek()));
  }
  return take().text;
}

std::string Cursor::string() {
  if (peek().kind != TokenKind::string) fail("expected a string, found " + shown(peek()));
  return take().text;
}

std::int64_t Cursor::integer() {
  const Token first = peek();
  const std::string sign = accept("-") ? "-" : "";
  if (peek().kind != TokenKind::integer) fail("expected an integer, found " + shown(peek()));
  const std::string digits = sign + take().text;
  std::int64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ec != std::errc()) fail(digits + " does not fit 64 bits", first);
  return value;
}

int Cursor::small_integer() {
  const Token first = peek();
  const std::int64_t value = integer();
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    fail(std::to_string(value) + " does not fit 32 bits", first);
  }
  return static_cast<int>(value);
}

void Cursor::fail(const std::string& message) const {
  fail(message, peek());
}

void Cursor::fail(const std::string& message, const Token& at) const {
  throw ParseError(at.line, at.column, message);
}

size_t Cursor::after_parenthesis() const {
  size_t ahead = 0;
  int open = 0;
  do {
    if (at("(", ahead)) ++open;
    if (at(")", ahead)) --open;
    ++ahead;
  } while (open > 0 && peek(ahead).kind != TokenKind::end);
  return ahead;
}

Cursor::Nested::Nested(Cursor& cursor) : cursor_(cursor) {
  if (++cursor_.depth_ > kDeepest) {
    --cursor_.depth_;
    cursor_.fail("nested deeper than " + std::to_string(kDeepest));
  }
}

}  // namespace lay::notation
