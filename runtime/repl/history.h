// What was typed before, kept in a file from session to session.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lay::runtime {

// The file holds one entry a line, with `\n` and `\\` inside an entry escaped. It is private to the
// user, and grows by appending, so that two sessions at once keep both their lines. Failing to read
// or write it is no error: the history then lives for this session alone.
class History {
 public:
  explicit History(std::string path);  // empty: kept in memory only

  const std::vector<std::string>& entries() const { return entries_; }  // oldest first
  void add(const std::string& entry);  // unless empty or the same as the last

  // The newest entry before `before` that contains the text; entries().size() where there is none.
  std::size_t find(std::string_view text, std::size_t before) const;

 private:
  void shorten_file() const;

  std::string path_;
  std::vector<std::string> entries_;
};

// ${LAY_HISTORY}, else ${XDG_STATE_HOME:-~/.local/state}/lay/history; empty where there is no home.
std::string history_path();

}  // namespace lay::runtime
