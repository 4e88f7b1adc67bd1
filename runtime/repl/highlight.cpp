#include "runtime/repl/highlight.h"

#include <algorithm>

namespace lay::runtime {
namespace {

constexpr std::string_view plain = "0", keyword = "1;35", number = "36", string = "32",
                           comment = "2";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

template <class Predicate>
std::size_t end_while(std::string_view text, std::size_t at, Predicate belongs) {
  while (at < text.size() && belongs(text[at])) ++at;
  return at;
}

// Behind the closing quote, or at the end of the line where there is none.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\') ++at;
  }
  return std::min(at, text.size());
}

// Returns whether two slashes begin a comment. They divide behind an operand: `a // b`, unless at
// least two blanks stand before them or nothing follows on the line.
bool begins_comment(std::string_view text, std::size_t at) {
  const std::size_t before =
      text.find_last_not_of(" \t", at == 0 ? std::string_view::npos : at - 1);
  if (at == 0 || before == text.npos) return true;
  const char c = text[before];
  if (!is_digit(c) && !is_letter(c) && c != ')' && c != ']' && c != '"') return true;
  if (at - before > 2 || text[at - 1] == '\t') return true;
  const std::size_t behind = text.find_first_not_of(" \t", at + 2);
  return behind == text.npos || text[behind] == '\n';
}

}  // namespace

const std::vector<std::string_view>& keywords() {
  static const std::vector<std::string_view> words = {
      "and",      "assert", "assume", "def",  "dim",   "else",  "explain",
      "false",    "find",   "for",    "if",   "in",    "inout", "kernel",
      "let",      "not",    "o",      "or",   "print", "prove", "record",
      "schedule", "show",   "then",   "true", "use",   "when",  "where"};
  return words;
}

std::vector<Style> highlight(std::string_view text) {
  std::vector<Style> styles;
  for (std::size_t at = 0; at < text.size();) {
    std::string_view sgr;
    std::size_t end = at + 1;
    if (text.substr(at, 2) == "//" && begins_comment(text, at)) {
      end = end_while(text, at, [](char c) { return c != '\n'; });
      sgr = comment;
    } else if (text[at] == '"') {
      end = string_end(text, at);
      sgr = string;
    } else if (is_digit(text[at])) {
      end = end_while(text, at, [](char c) { return is_digit(c) || is_letter(c) || c == '.'; });
      // In `0..n` the number ends before the dots.
      if (const auto range = text.substr(at, end - at).find(".."); range != text.npos)
        end = at + range;
      sgr = number;
    } else if (is_letter(text[at])) {
      end = end_while(text, at, [](char c) { return is_digit(c) || is_letter(c); });
      if (std::binary_search(keywords().begin(), keywords().end(), text.substr(at, end - at)))
        sgr = keyword;
    }
    if (!sgr.empty()) {
      styles.push_back({at, sgr});
      styles.push_back({end, plain});
    }
    at = end;
  }
  return styles;
}

}  // namespace lay::runtime
