#include "runtime/repl/completion.h"

#include <algorithm>
#include <filesystem>

#include "frontend/export/export.h"
#include "frontend/sema/stdlib.h"
#include "runtime/commands/help/help.h"
#include "runtime/repl/highlight.h"

namespace lay::runtime {
namespace {

// More candidates than these are shown as bare words.
constexpr std::size_t most_signatures = 12;

constexpr std::string_view commands[] = {":explain", ":export", ":help", ":load", ":names",
                                         ":quit",    ":reset",  ":save", ":show", ":type"};

bool is_name_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The offset at which an open string literal begins, or npos.
std::size_t open_string(std::string_view text) {
  std::size_t open = text.npos;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"')
      open = open == text.npos ? at : text.npos;
    else if (text[at] == '\\' && open != text.npos)
      ++at;
    else if (text[at] == '\n')
      open = text.npos;
  }
  return open;
}

// The paths that begin with the prefix, folders with a slash at the end.
std::vector<std::string> paths_with_prefix(std::string_view prefix) {
  namespace fs = std::filesystem;
  const auto slash = prefix.rfind('/');
  const std::string folder(slash == prefix.npos ? "" : prefix.substr(0, slash + 1));
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string path = folder + entry->path().filename().string();
    if (path.rfind(prefix, 0) == 0) paths.push_back(entry->is_directory(error) ? path + "/" : path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The completion of the argument of a command or of `use`: a path, a library or a target.
struct Behind {
  std::string_view word;
  enum class What : uint8_t { path, library, target } what;
};
constexpr Behind behind[] = {{":load ", Behind::What::path},
                             {":save ", Behind::What::path},
                             {"use ", Behind::What::library},
                             {":export ", Behind::What::target}};

std::optional<Completions> after_command(std::string_view before) {
  const std::size_t line = before.rfind('\n') + 1;
  for (const auto& [word, what] : behind) {
    if (before.substr(line, word.size()) != word) continue;
    const std::size_t begin = line + word.size();
    const std::string_view prefix = before.substr(begin);
    if (what == Behind::What::path) return Completions{begin, paths_with_prefix(prefix), {}};
    Completions found{begin, {}, {}};
    const auto offer = [&](std::string_view name) {
      if (name.substr(0, prefix.size()) == prefix) found.words.emplace_back(name);
    };
    if (what == Behind::What::library)
      for (const auto& name : sema::stdlib_names()) offer(name);
    else
      for (const auto& name : exports::targets()) offer(name);
    std::sort(found.words.begin(), found.words.end());
    // An expression follows the target.
    if (what == Behind::What::library || prefix.find(' ') == prefix.npos) return found;
  }
  return std::nullopt;
}

// The fields of the record before the dot that the text ends with, or that stands before the name
// it ends with.
std::optional<Completions> after_dot(const sema::Evaluator& evaluator, std::string_view before) {
  std::size_t name = before.size();
  while (name > 0 && is_name_character(before[name - 1])) --name;
  const bool range = name >= 2 && before[name - 2] == '.';  // 0..n
  if (name == 0 || before[name - 1] != '.' || range) return std::nullopt;
  std::size_t begin = name - 1;
  while (begin > 0 && (is_name_character(before[begin - 1]) || before[begin - 1] == '.')) --begin;
  const std::string path(before.substr(begin, name - 1 - begin));
  Completions found{name, {}, {}};  // empty where what has the fields is no name: f(x).
  for (std::string& field : evaluator.fields(path))
    if (field.rfind(before.substr(name), 0) == 0) found.words.push_back(std::move(field));
  std::sort(found.words.begin(), found.words.end());
  return found;
}

// The name before the innermost bracket that is open at the end of the text; empty where it is no
// call.
std::string_view open_call(std::string_view before) {
  // Backwards: a closing bracket hides the opening one that it belongs to.
  int closed = 0;
  for (std::size_t at = before.size(); at-- > 0;) {
    const char c = before[at];
    if (c == ')' || c == ']') ++closed;
    if (c != '(' && c != '[') continue;
    if (closed-- > 0) continue;
    std::size_t begin = at;
    while (begin > 0 && is_name_character(before[begin - 1])) --begin;
    return c == '(' ? before.substr(begin, at - begin) : "";
  }
  return "";
}

// A name's signature, or the name where it has none.
std::string signature(const sema::Evaluator& evaluator, const std::string& name) {
  const auto help = evaluator.help(name);
  return help ? help->signature : name;
}

Completions in_call(const sema::Evaluator& evaluator, std::string_view before) {
  const std::string name(open_call(before));
  const auto help = name.empty() ? std::nullopt : evaluator.help(name);
  if (!help) return {before.size(), {}, {}};
  return {before.size(), {}, {help->signature, "  " + help->law}};
}

}  // namespace

std::span<const std::string_view> repl_commands() {
  return commands;
}

Completions complete_line(const sema::Evaluator& evaluator, std::string_view text,
                          std::size_t cursor) {
  const std::string_view before = text.substr(0, cursor);
  if (const auto quote = open_string(before); quote != before.npos)
    return {quote + 1, paths_with_prefix(before.substr(quote + 1)), {}};
  if (auto found = after_command(before)) return *found;
  if (auto found = after_dot(evaluator, before)) return *found;
  const bool page = !before.empty() && before.front() == '?';
  std::size_t begin = cursor;
  while (begin > 0 && (is_name_character(text[begin - 1]) || (page && text[begin - 1] == '-')))
    --begin;
  if (begin == 1 && text[0] == ':') begin = 0;  // the colon is part of a command's name
  const std::string_view prefix = before.substr(begin);
  if (prefix.empty()) return in_call(evaluator, before);
  Completions found{begin, {}, {}};
  const auto offer = [&](std::string_view word) {
    if (word.substr(0, prefix.size()) == prefix) found.words.emplace_back(word);
  };
  if (prefix.front() == ':') {
    for (const auto word : commands) offer(word);
  } else {
    for (const auto& name : evaluator.names()) offer(name);
    if (page)
      for (const auto& topic : help_topics()) offer(topic);
    else
      for (const auto word : keywords()) offer(word);
  }
  std::sort(found.words.begin(), found.words.end());
  found.words.erase(std::unique(found.words.begin(), found.words.end()), found.words.end());
  if (found.words.size() <= most_signatures)
    for (const auto& word : found.words) found.hints.push_back(signature(evaluator, word));
  return found;
}

}  // namespace lay::runtime
