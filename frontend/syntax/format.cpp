#include "frontend/syntax/format.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/syntax/marks.h"
#include "frontend/syntax/parse.h"
#include "frontend/syntax/words.h"
#include "grammar/LayLexer.h"

namespace lay::syntax {
namespace {

using generated::LayLexer;

constexpr std::size_t kIndent = 2;        // inside brackets
constexpr std::size_t kContinuation = 4;  // of a line that goes on with the one before

struct Line {
  std::size_t indent = 0;
  std::string code;
  std::string comment;
  std::size_t equals = std::string::npos;  // where the `=` of a schedule's entry stands in `code`
  bool blank() const { return code.empty() && comment.empty(); }
};

// Columns: characters, not bytes.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

class Formatter {
 public:
  Formatter(std::string_view text, const Limits& limits) : text_(text), raw_(lex(text)) {
    const Filtered filtered = filter_newlines(raw_, limits.brackets);
    bool begins = true;
    for (const Word& word : filtered.words) {
      if (word.type == LayLexer::NEWLINE) {
        begins = true;
        continue;
      }
      words_.push_back(word);
      begins_.push_back(begins);
      begins = word.type == LayLexer::SEMICOLON || word.type == LayLexer::LEFT_BRACE;
    }
    marks_ = mark(words_, begins_);
    indents_.resize(words_.size());
  }

  std::string run() {
    for (const Word& word : raw_) {
      if (word.type == LayLexer::NEWLINE) {
        end_line();
      } else if (word.type == LayLexer::COMMENT) {
        comment(word);
      } else {
        significant(word);
      }
    }
    end_line();
    drop_blank_lines();
    align_entries();
    return text();
  }

 private:
  // A `;` at the end of a line separates nothing.
  void end_line() {
    line_.code.erase(line_.code.find_last_not_of("; ") + 1);
    lines_.push_back(std::move(line_));
    line_ = {};
  }

  void comment(const Word& word) {
    std::string spelling(text_.substr(word.begin, word.end - word.begin));
    spelling.erase(spelling.find_last_not_of(" \t") + 1);
    if (line_.code.empty()) line_.indent = indent_of(next_);
    line_.comment = std::move(spelling);
  }

  void significant(const Word& word) {
    const std::size_t i = next_++;
    if (line_.code.empty()) {
      line_.indent = indent_of(i);
      first_on_line_ = i;
    } else if (blank_between(i)) {
      line_.code += ' ';
    }
    if (is_entry_equals(i)) line_.equals = line_.code.size();
    indents_[i] = line_.indent;
    line_.code += text_.substr(word.begin, word.end - word.begin);
  }

  // Returns the indent of a line whose first significant word is the i-th.
  std::size_t indent_of(std::size_t i) const {
    if (i >= words_.size()) return 0;
    const Mark& m = marks_[i];
    const bool closes = m.partner != kNowhere && m.partner < i;
    if (closes && words_[i].first_on_line && line_.comment.empty() && at_line_start(i))
      return indents_[m.partner];
    const std::size_t around = closes ? m.partner : m.inside;
    const std::size_t base = around == kNowhere ? 0 : indents_[around] + kIndent;
    const bool in_brackets = around != kNowhere && marks_[around].bracket != Bracket::brace;
    // Behind a comma between braces the next entry begins.
    const bool begins_entry = around != kNowhere && i > 0 && words_[i - 1].type == LayLexer::COMMA;
    if (in_brackets || m.begins_statement || closes || begins_entry) return base;
    return words_[i].type == LayLexer::LEFT_BRACE ? base : base + kContinuation;
  }

  // The i-th word is the one that is being written, not one that a comment line looks ahead to.
  bool at_line_start(std::size_t i) const { return next_ == i + 1; }

  // Returns true for an entry's `=` on a line of its own: not where the braces begin on that line.
  bool is_entry_equals(std::size_t i) const {
    if (words_[i].type != LayLexer::ASSIGN || line_.equals != std::string::npos) return false;
    return marks_[i].inside != kNowhere && marks_[i].inside < first_on_line_ &&
           marks_[marks_[i].inside].bracket == Bracket::brace && !in_kernel(i);
  }

  bool in_kernel(std::size_t i) const {
    for (std::size_t k = marks_[i].inside; k-- > 0;) {
      if (marks_[k].begins_statement && marks_[k].inside == kNowhere)
        return words_[k].type == LayLexer::KERNEL;
    }
    return false;
  }

  // Innermost bracket around word i, of the words inside it.
  Bracket inside(std::size_t i) const {
    return marks_[i].inside == kNowhere ? Bracket::none : marks_[marks_[i].inside].bracket;
  }
  bool compact(std::size_t i) const {
    const Bracket b = inside(i);
    return b == Bracket::tuple || b == Bracket::index || b == Bracket::angle;
  }

  bool blank_between(std::size_t i) const {
    const std::size_t a = words_[i - 1].type, b = words_[i].type;
    const Mark &ma = marks_[i - 1], &mb = marks_[i];
    const bool opens_a = ma.bracket != Bracket::none && ma.partner > i - 1;
    const bool opens_b = mb.bracket != Bracket::none && mb.partner > i;
    const bool closes_b = mb.bracket != Bracket::none && !opens_b;
    if (opens_a && closes_b) return false;
    if (a == LayLexer::LEFT_BRACE || b == LayLexer::RIGHT_BRACE || b == LayLexer::LEFT_BRACE)
      return true;
    if (opens_a || closes_b) return false;
    if (b == LayLexer::COMMA || b == LayLexer::SEMICOLON) return false;
    if (a == LayLexer::COMMA) return !compact(i - 1);
    if (a == LayLexer::SEMICOLON) return true;
    if (b == LayLexer::ASSIGN && a == LayLexer::GREATER && words_[i - 1].end == words_[i].begin &&
        ma.partner == kNowhere)
      return false;
    if (a == LayLexer::AT || b == LayLexer::AT || a == LayLexer::DOT || b == LayLexer::DOT)
      return false;
    if (a == LayLexer::RANGE || b == LayLexer::RANGE) return false;
    if (a == LayLexer::COLON) return ma.names_type || ma.wide;
    if (b == LayLexer::COLON) return mb.wide;
    if (ma.sign) return false;
    if (opens_b && (mb.bracket == Bracket::call || mb.bracket == Bracket::index ||
                    mb.bracket == Bracket::generic))
      return a == LayLexer::ARROW;
    if (is_arithmetic(a) && compact(i - 1)) return false;
    if (is_arithmetic(b) && !mb.sign && compact(i)) return false;
    return true;
  }

  static bool is_arithmetic(std::size_t type) {
    return type == LayLexer::PLUS || type == LayLexer::MINUS || type == LayLexer::TIMES ||
           type == LayLexer::DIVIDE || type == LayLexer::FLOOR_DIVIDE || type == LayLexer::MODULO;
  }

  // At most one empty line in a row; none at either end, behind `{` or before `}`.
  void drop_blank_lines() {
    std::vector<Line> kept;
    for (Line& line : lines_) {
      const bool closes = !line.code.empty() && line.code.front() == '}';
      if (closes && !kept.empty() && kept.back().blank()) kept.pop_back();
      const bool opened =
          !kept.empty() && !kept.back().code.empty() && kept.back().code.back() == '{';
      if (line.blank() && (kept.empty() || kept.back().blank() || opened)) continue;
      kept.push_back(std::move(line));
    }
    while (!kept.empty() && kept.back().blank()) kept.pop_back();
    lines_ = std::move(kept);
  }

  // In runs of lines, `member` of each line is moved to the same column by blanks before it.
  template <class Has, class Column, class Shift>
  void align(Has has, Column column, Shift shift) {
    for (std::size_t begin = 0; begin < lines_.size(); ++begin) {
      std::size_t end = begin, target = 0;
      for (; end < lines_.size() && has(lines_[end]) && lines_[end].indent == lines_[begin].indent;
           ++end) {
        target = std::max(target, column(lines_[end]));
      }
      for (std::size_t i = begin; i < end; ++i) shift(lines_[i], target - column(lines_[i]));
      if (end > begin) begin = end - 1;
    }
  }

  void align_entries() {
    align([](const Line& l) { return l.equals != std::string::npos; },
          [](const Line& l) { return width(std::string_view(l.code).substr(0, l.equals)); },
          [](Line& l, std::size_t by) { l.code.insert(l.equals, by, ' '); });
    align([](const Line& l) { return !l.code.empty() && !l.comment.empty(); },
          [](const Line& l) { return width(l.code); },
          [](Line& l, std::size_t by) { l.code.append(by, ' '); });
  }

  std::string text() const {
    std::string result;
    for (const Line& line : lines_) {
      if (!line.blank()) result.append(line.indent, ' ');
      result += line.code;
      if (!line.code.empty() && !line.comment.empty()) result += "  ";
      result += line.comment;
      result += '\n';
    }
    return result;
  }

  std::size_t first_on_line_ = 0;  // the word
  std::string_view text_;
  std::vector<Word> raw_, words_;  // with comments and newlines, and without
  std::vector<bool> begins_;
  std::vector<Mark> marks_;
  std::vector<std::size_t> indents_;  // of the line on which each word stands
  std::size_t next_ = 0;              // the next significant word
  Line line_;
  std::vector<Line> lines_;
};

Diagnostic changed_meaning(int file) {
  Diagnostic d;
  d.code = "format-refused";
  d.message = "this text is left as it is: its formatting would mean something else";
  d.primary = {file, 0, 1};
  d.notes.push_back({"help", "this is a mistake in the formatter; please report it with the text"});
  return d;
}

}  // namespace

Formatted format(const Sources& sources, int file) {
  const Limits limits;
  const Parsed before = parse(sources, file, limits);
  if (!before.ok()) return {"", before.diagnostics};
  Formatted result{Formatter(sources[file].text, limits).run(), before.diagnostics};
  Sources again;
  const Parsed after = parse(again, again.add(sources[file].name, result.text), limits);
  if (!after.ok() || dump(*after.tree) != dump(*before.tree)) {
    result.text.clear();
    result.diagnostics.add(changed_meaning(file));
  }
  return result;
}

}  // namespace lay::syntax
