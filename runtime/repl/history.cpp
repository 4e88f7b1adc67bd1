#include "runtime/repl/history.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "frontend/source/diagnostic.h"
#include "runtime/io/file.h"

namespace lay::runtime {
namespace {

// The file is shortened to this many entries when it has twice as many, so that most starts only
// read it.
constexpr std::size_t most_entries = 5000;

// One line of the file: "a\nb" for two lines.
std::string escape(const std::string& entry) {
  std::string line;
  for (const char c : entry) {
    if (c == '\n')
      line += "\\n";
    else if (c == '\\')
      line += "\\\\";
    else
      line += c;
  }
  return line + '\n';
}

std::string unescape(std::string_view line) {
  std::string entry;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      entry += line[i];
    } else {
      ++i;
      entry += line[i] == 'n' ? '\n' : line[i];
    }
  }
  return entry;
}

}  // namespace

History::History(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::string text;
  try {
    text = read_file(path_);
  } catch (const DiagnosticError&) {
    return;
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) entries_.push_back(unescape(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  if (entries_.size() > 2 * most_entries) {
    entries_.erase(entries_.begin(), entries_.end() - most_entries);
    shorten_file();
  }
}

void History::add(const std::string& entry) {
  if (entry.find_first_not_of(" \t\n") == std::string::npos) return;
  if (!entries_.empty() && entries_.back() == entry) return;
  entries_.push_back(entry);
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
  // O_APPEND and a single write keep the entries of two sessions apart; O_NONBLOCK does not wait
  // where the path is a pipe.
  const int file =
      ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
  if (file < 0) return;
  const std::string line = escape(entry);
  [[maybe_unused]] const ssize_t written = ::write(file, line.data(), line.size());
  ::close(file);
}

std::size_t History::find(std::string_view text, std::size_t before) const {
  for (std::size_t i = std::min(before, entries_.size()); i > 0; --i)
    if (entries_[i - 1].find(text) != std::string::npos) return i - 1;
  return entries_.size();
}

void History::shorten_file() const {
  std::string text;
  for (const auto& entry : entries_) text += escape(entry);
  try {
    write_file(path_, {text});
  } catch (const DiagnosticError&) {  // the file stays as it is
  }
}

std::string history_path() {
  if (const char* path = std::getenv("LAY_HISTORY")) return path;
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state == '/')
    return std::string(state) + "/lay/history";
  if (const char* home = std::getenv("HOME"); home && *home == '/')
    return std::string(home) + "/.local/state/lay/history";
  return "";
}

}  // namespace lay::runtime
