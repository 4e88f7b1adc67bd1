// The statements of earlier sessions, for Up and Ctrl-R. They are kept in a file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lay::runtime {

// The file has one entry a line, with newlines and backslashes escaped as `\n` and `\\`. Only the
// user may read it. Sessions append to it, so that two at once keep the entries of both. A file
// that cannot be read or written is no error: the history then ends with the session.
class History {
 public:
  // Reads the file; an empty path keeps entries in memory only.
  explicit History(std::string path);

  // Returns the entries, the oldest first.
  const std::vector<std::string>& entries() const { return entries_; }
  // Appends an entry, unless it is blank or the same as the last one.
  void add(const std::string& entry);

  // Returns the index of the newest entry before `before` that contains the text; entries().size()
  // if there is none.
  std::size_t find(std::string_view text, std::size_t before) const;

 private:
  // Writes the file anew, with the entries that are kept.
  void shorten_file() const;

  std::string path_;
  std::vector<std::string> entries_;
};

// Returns $LAY_HISTORY, else lay/history in $XDG_STATE_HOME, else in ~/.local/state; empty if there
// is no home folder.
std::string history_path();

}  // namespace lay::runtime
