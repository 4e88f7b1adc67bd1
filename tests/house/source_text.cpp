#include "tests/house/source_text.h"

#include <algorithm>
#include <cctype>

namespace lay::test {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Reads literals and comments of a source across its lines. Comments of the form /* */ are not
// used in this repository.
class Splitter {
 public:
  SourceLine split(const std::string& line) {
    SourceLine made;
    made.text = line;
    made.in_raw_string = !raw_end_.empty();
    std::size_t at = 0;
    while (at < line.size()) {
      if (!raw_end_.empty()) {
        const std::size_t end = line.find(raw_end_, at);
        if (end == std::string::npos) break;
        at = end + raw_end_.size();
        raw_end_.clear();
      } else if (line.compare(at, 2, "//") == 0) {
        made.comment = line.substr(at);
        break;
      } else if (line[at] == '"' && at > 0 && line[at - 1] == 'R') {
        const std::size_t open = line.find('(', at);
        raw_end_ = ")" + line.substr(at + 1, open - at - 1) + "\"";
        at = open + 1;
      } else if (line[at] == '"' || (line[at] == '\'' && !(at > 0 && is_word(line[at - 1])))) {
        at = behind_literal(line, at);
      } else {
        ++at;
      }
    }
    made.code = line.substr(0, line.size() - made.comment.size());
    return made;
  }

 private:
  static std::size_t behind_literal(const std::string& line, std::size_t at) {
    const char quote = line[at];
    for (++at; at < line.size() && line[at] != quote; ++at)
      if (line[at] == '\\') ++at;
    return at + 1;
  }

  std::string raw_end_;  // what ends the raw string that is open; empty where none is
};

}  // namespace

bool SourceLine::is_blank() const {
  return text.find_first_not_of(" \t") == std::string::npos;
}

bool SourceLine::is_comment() const {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  return !comment.empty() && code.find_first_not_of(" \t") == std::string::npos &&
         std::any_of(comment.begin(), comment.end(), is_letter);
}

std::vector<SourceLine> source_lines(const TextFile& file) {
  Splitter splitter;
  std::vector<SourceLine> lines;
  for (const std::string& line : file.lines) {
    lines.push_back(splitter.split(line));
    lines.back().number = static_cast<int>(lines.size());
  }
  return lines;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > at) words.push_back(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return words;
}

}  // namespace lay::test
