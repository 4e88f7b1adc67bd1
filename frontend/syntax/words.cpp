#include "frontend/syntax/words.h"

#include <charconv>
#include <optional>

#include "frontend/source/text.h"
#include "grammar/LayLexer.h"

namespace lay::syntax {
namespace {

// The value of 0x10, 0b101 or 0o17; nothing for other text, or beyond 64 bits.
std::optional<std::uint64_t> prefixed_value(std::string_view spelling) {
  if (spelling.size() < 3 || spelling[0] != '0') return std::nullopt;
  const char mark = spelling[1];
  const int base = mark == 'x' || mark == 'X'   ? 16
                   : mark == 'b' || mark == 'B' ? 2
                   : mark == 'o' || mark == 'O' ? 8
                                                : 0;
  if (base == 0) return std::nullopt;
  std::uint64_t value = 0;
  const char* end = spelling.data() + spelling.size();
  const auto [at, error] = std::from_chars(spelling.data() + 2, end, value, base);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

using generated::LayLexer;

constexpr std::size_t kLongestName = 255;

// Offsets in characters, asked for in ascending order -> offsets in bytes.
class ByteOffsets {
 public:
  explicit ByteOffsets(std::string_view text) : text_(text) {}

  std::uint32_t at(std::size_t character) {
    while (character_ < character && byte_ < text_.size()) {
      byte_ += character_at(text_, byte_).length;
      ++character_;
    }
    return static_cast<std::uint32_t>(byte_);
  }

 private:
  std::string_view text_;
  std::size_t character_ = 0, byte_ = 0;
};

Diagnostic at(int file, std::size_t begin, std::size_t end, std::string code, std::string message) {
  Diagnostic d;
  d.code = std::move(code);
  d.message = std::move(message);
  d.primary = {file, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  return d;
}

Diagnostic unknown_character(int file, std::string_view text, const Word& word) {
  const Character c = character_at(text, word.begin);
  const std::string shown = escaped(text.substr(word.begin, word.end - word.begin));
  if (is_bidi_control(c.code)) {
    Diagnostic d = at(file, word.begin, word.end, "bidi-control",
                      "the character " + shown +
                          " reorders the text on the screen and may stand in comments only");
    d.notes.push_back({"help", "remove it"});
    return d;
  }
  Diagnostic d = at(file, word.begin, word.end, "unexpected-character",
                    "the character `" + shown + "` has no meaning in Lay");
  if (c.code >= 0x80)
    d.notes.push_back({"help", "names are made of the letters a to z, A to Z, digits and _"});
  if (c.code == '&') d.notes.push_back({"help", "write `and`"});
  if (c.code == '|') d.notes.push_back({"help", "write `or`"});
  if (c.code == '!') d.notes.push_back({"help", "write `not`"});
  if (c.code == '\'') d.notes.push_back({"help", "strings are written between double quotes"});
  if (c.code == '?') d.notes.push_back({"help", "a condition is written `if a then b else c`"});
  if (c.code == '#') d.notes.push_back({"help", "a comment begins with //"});
  return d;
}

void check_string(int file, std::string_view text, const Word& word, Diagnostics& diagnostics) {
  for (std::size_t i = word.begin; i < word.end;) {
    const Character c = character_at(text, i);
    if (is_bidi_control(c.code)) {
      diagnostics.add(unknown_character(file, text,
                                        {word.type, static_cast<std::uint32_t>(i),
                                         static_cast<std::uint32_t>(i + c.length), false}));
    }
    if (c.code == '\\') {
      const char escape = i + 1 < word.end ? text[i + 1] : ' ';
      if (std::string_view("\\\"nt").find(escape) == std::string_view::npos) {
        Diagnostic d = at(file, i, i + 2, "bad-escape",
                          "a string knows the escapes \\\\ \\\" \\n and \\t only");
        d.notes.push_back({"help", "a backslash is written \\\\"});
        diagnostics.add(std::move(d));
      }
      i += 2;
      continue;
    }
    i += c.length;
  }
}

void check_comment(int file, std::string_view text, const Word& word, Diagnostics& diagnostics) {
  for (std::size_t i = word.begin; i < word.end;) {
    const Character c = character_at(text, i);
    if (is_bidi_control(c.code)) {
      Diagnostic d = at(file, i, i + c.length, "bidi-control",
                        "this comment holds the character " + escaped(text.substr(i, c.length)) +
                            ", which reorders the text on the screen");
      d.severity = Severity::warning;
      diagnostics.add(std::move(d));
      return;
    }
    i += c.length;
  }
}

}  // namespace

std::vector<Word> lex(std::string_view text) {
  antlr4::ANTLRInputStream input{std::string(text)};
  LayLexer lexer(&input);
  lexer.removeErrorListeners();
  ByteOffsets offsets(text);
  std::vector<Word> words;
  bool first = true;
  for (;;) {
    const std::unique_ptr<antlr4::Token> token = lexer.nextToken();
    if (token->getType() == antlr4::Token::EOF) return words;
    Word word;
    word.type = token->getType();
    word.begin = offsets.at(token->getStartIndex());
    word.end = offsets.at(token->getStopIndex() + 1);
    word.first_on_line = first;
    first = word.type == LayLexer::NEWLINE;
    words.push_back(word);
  }
}

bool check_text(int file, std::string_view text, const Limits& limits, Diagnostics& diagnostics) {
  if (text.size() > limits.bytes) {
    Diagnostic d = at(file, 0, 0, "source-too-large",
                      "this text has " + std::to_string(text.size()) + " bytes; the limit is " +
                          std::to_string(limits.bytes));
    d.notes.push_back({"help", "split it into files and take them in with use"});
    diagnostics.add(std::move(d));
    return false;
  }
  bool ok = true;
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    Diagnostic d = at(file, nul, nul + 1, "nul-byte", "this text holds a NUL byte");
    d.notes.push_back({"help", "is this a text file? Lay reads UTF-8"});
    diagnostics.add(std::move(d));
    ok = false;
  }
  if (const std::optional<std::size_t> bad = find_invalid_utf8(text)) {
    Diagnostic d = at(file, *bad, *bad + 1, "invalid-utf8",
                      "the byte " + escaped(text.substr(*bad, 1)) + " here is not UTF-8");
    d.notes.push_back({"help", "save the file as UTF-8"});
    diagnostics.add(std::move(d));
    ok = false;
  }
  return ok;
}

void check_words(int file, std::string_view text, const std::vector<Word>& words,
                 Diagnostics& diagnostics) {
  std::uint32_t unknown_end =
      0;  // of the run of letters that holds the last unknown character: reported once
  for (const Word& word : words) {
    if (diagnostics.full()) return;
    const std::string_view spelling = text.substr(word.begin, word.end - word.begin);
    const bool same_run = unknown_end > 0 && unknown_end == word.begin;
    if (same_run && (word.type == LayLexer::NAME || word.type == LayLexer::UNKNOWN))
      unknown_end = word.end;
    switch (word.type) {
      case LayLexer::UNKNOWN:
        if (!same_run) diagnostics.add(unknown_character(file, text, word));
        unknown_end = word.end;
        break;
      case LayLexer::OPEN_TEXT: {
        Diagnostic d = at(file, word.begin, word.end, "unterminated-string",
                          "this string has no closing quote");
        d.notes.push_back({"help", "a string ends with \" on the line where it begins"});
        diagnostics.add(std::move(d));
        break;
      }
      case LayLexer::BAD_NUMBER: {
        Diagnostic d =
            at(file, word.begin, word.end, "bad-number",
               "`" + escaped(spelling.substr(0, 40)) + "` is neither a number nor a name");
        const std::optional<std::uint64_t> value = prefixed_value(spelling);
        d.notes.push_back(
            {"help", value ? "numbers are decimal: " + std::to_string(*value)
                           : "numbers are decimal (8, 0.5, 1e-3); names begin with a letter or _"});
        diagnostics.add(std::move(d));
        break;
      }
      case LayLexer::NAME:
        if (spelling.size() > kLongestName) {
          diagnostics.add(at(file, word.begin, word.end, "name-too-long",
                             "this name has " + std::to_string(spelling.size()) +
                                 " letters; the limit is " + std::to_string(kLongestName)));
        }
        break;
      case LayLexer::STRING:
        check_string(file, text, word, diagnostics);
        break;
      case LayLexer::COMMENT:
        check_comment(file, text, word, diagnostics);
        break;
      default:
        break;
    }
  }
}

}  // namespace lay::syntax
