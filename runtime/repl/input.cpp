#include "runtime/repl/input.h"

#include <algorithm>
#include <optional>

#include "frontend/syntax/parse.h"

namespace lay::runtime {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(blanks) == line.npos;
}

// Returns the line behind the prompt's mark, "lay>" or ">"; nothing if the line has none. Pages
// indent their sessions, and editors cut the blank behind a prompt.
std::optional<std::string_view> behind(std::string_view mark, std::string_view line,
                                       std::size_t least_indent) {
  const std::size_t begin = line.find_first_not_of(blanks);
  if (begin == line.npos || begin < least_indent || !line.substr(begin).starts_with(mark))
    return std::nullopt;
  const std::string_view rest = line.substr(begin + mark.size());
  if (rest.empty()) return rest;
  return rest.front() == ' ' ? std::optional(rest.substr(1)) : std::nullopt;
}

std::optional<std::string_view> behind_prompt(std::string_view line) {
  return behind("lay>", line, 0);
}
std::optional<std::string_view> behind_continuation(std::string_view line) {
  return behind(">", line, continuation_prompt.find('>'));
}

bool is_command(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(blanks);
  return begin != line.npos && (line[begin] == ':' || line[begin] == '?');
}

}  // namespace

std::string without_prompts(std::string_view text) {
  const auto lines = lines_of(text);
  const auto first =
      std::find_if(lines.begin(), lines.end(), [](auto line) { return !is_blank(line); });
  if (first == lines.end() || !behind_prompt(*first)) return std::string(text);
  std::string result;
  for (auto line = first; line != lines.end(); ++line) {
    auto typed = behind_prompt(*line);
    if (!typed) typed = behind_continuation(*line);
    if (!typed) continue;
    if (!result.empty()) result += '\n';
    result += *typed;
  }
  return result;
}

std::vector<std::string> split_commands(std::string_view text) {
  std::vector<std::string> parts;
  std::string statements;
  const auto flush = [&] {
    if (!is_blank(statements)) parts.push_back(statements);
    statements.clear();
  };
  for (const std::string_view line : lines_of(text)) {
    // `:` at the start of a line inside brackets belongs to the statement.
    if (is_command(line) && (is_blank(statements) || !syntax::needs_more(statements))) {
      flush();
      parts.emplace_back(line);
    } else {
      if (!statements.empty()) statements += '\n';
      statements += line;
    }
  }
  flush();
  return parts;
}

bool needs_more_input(std::string_view text) {
  const auto parts = split_commands(without_prompts(text));
  return !parts.empty() && !is_command(parts.back()) && syntax::needs_more(parts.back());
}

bool LineCollector::add(std::string_view line) {
  auto typed = behind_prompt(line);
  if (first_ && !is_blank(line)) {
    first_ = false;
    transcript_ = drops_answers_ && typed;
  }
  if (!typed && open_) typed = behind_continuation(line);
  if (!typed && transcript_) return false;
  const std::string_view added = typed.value_or(line);
  if (open_) text_ += '\n';
  text_ += added;
  open_ = needs_more_input(text_) && !is_blank(added);
  return !open_;
}

void LineCollector::clear() {
  text_.clear();
  open_ = false;
}

}  // namespace lay::runtime
