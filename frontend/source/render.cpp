#include <algorithm>
#include <map>
#include <sstream>

#include "frontend/source/diagnostic.h"
#include "frontend/source/text.h"

namespace lay {
namespace {

constexpr std::size_t kWindow = 140;  // characters of a source line that are shown
constexpr std::size_t kBefore =
    50;  // of them in front of the first underline, where the line must be clipped

struct Style {
  bool on;
  std::string_view bold() const { return on ? "\x1b[1m" : ""; }
  std::string_view red() const { return on ? "\x1b[1;31m" : ""; }
  std::string_view yellow() const { return on ? "\x1b[1;33m" : ""; }
  std::string_view blue() const { return on ? "\x1b[1;34m" : ""; }
  std::string_view off() const { return on ? "\x1b[0m" : ""; }
  std::string_view of(Severity s) const {
    return s == Severity::error ? red() : s == Severity::warning ? yellow() : blue();
  }
};

struct Underline {
  std::size_t begin, end;  // bytes within the line
  bool primary;
  std::string text;
};

// One source line as it is shown: `shown` is safe to print, and column(b) is where byte b of the
// line stands in it.
class ShownLine {
 public:
  ShownLine(std::string_view line, std::size_t first_underline) : line_(line) {
    std::size_t begin = 0;
    if (line.size() > kWindow && first_underline > kBefore) begin = first_underline - kBefore;
    while (begin < line.size() && begin > 0 &&
           (static_cast<unsigned char>(line[begin]) & 0xC0) == 0x80)
      ++begin;
    if (begin > 0) put("...", 3);
    begin_ = begin;
    for (std::size_t i = begin; i < line.size();) {
      if (columns_.size() >= kWindow && line.size() - i > 3) {
        end_ = i;
        put("...", 3);
        return;
      }
      const Character c = character_at(line, i);
      for (std::size_t k = 0; k < c.length; ++k) columns_.push_back(width_);
      if (c.code == '\t') {
        put("    ", 4);
      } else {
        const std::string safe = escaped(line.substr(i, c.length));
        put(safe, c.valid && safe.size() == c.length ? 1 : safe.size());
      }
      i += c.length;
    }
    end_ = line.size();
  }

  const std::string& shown() const { return shown_; }
  std::size_t column(std::size_t byte) const {
    if (byte < begin_) return 0;
    const std::size_t i = byte - begin_;
    return i < columns_.size() ? columns_[i] : width_;
  }

 private:
  void put(std::string_view text, std::size_t width) {
    shown_ += text;
    width_ += width;
  }

  std::string_view line_;
  std::size_t begin_ = 0, end_ = 0, width_ = 0;
  std::string shown_;
  std::vector<std::size_t> columns_;
};

std::string row_of_marks(const ShownLine& line, const std::vector<Underline>& underlines) {
  std::string marks;
  for (const bool primary : {false, true}) {
    for (const Underline& u : underlines) {
      if (u.primary != primary) continue;
      const std::size_t begin = line.column(u.begin), end = std::max(line.column(u.end), begin + 1);
      if (marks.size() < end) marks.resize(end, ' ');
      std::fill(marks.begin() + static_cast<std::ptrdiff_t>(begin),
                marks.begin() + static_cast<std::ptrdiff_t>(end), primary ? '^' : '-');
    }
  }
  return marks;
}

std::string coloured(const std::string& marks, const Style& style, Severity severity) {
  if (!style.on) return marks;
  std::string result;
  char last = ' ';
  for (const char c : marks) {
    if (c != last) result += c == '^' ? style.of(severity) : c == '-' ? style.blue() : style.off();
    result += c;
    last = c;
  }
  result += style.off();
  return result;
}

class Renderer {
 public:
  Renderer(const Sources& sources, const Diagnostic& d, Style style)
      : sources_(sources), d_(d), style_(style) {}

  std::string text() {
    heading();
    collect();
    if (d_.primary.known()) {
      excerpt(d_.primary.file, "-->");
      for (const auto& [file, lines] : lines_) {
        if (file != d_.primary.file) excerpt(file, ":::");
      }
    }
    notes();
    return out_.str();
  }

 private:
  void heading() {
    const char* word = d_.severity == Severity::error     ? "error"
                       : d_.severity == Severity::warning ? "warning"
                                                          : "note";
    out_ << style_.of(d_.severity) << word << '[' << escaped(d_.code) << ']' << style_.off()
         << style_.bold() << ": " << escaped(d_.message) << style_.off() << '\n';
  }

  void collect() {
    add(d_.primary, true, "");
    for (const Label& label : d_.labels) {
      if (label.span == d_.primary && d_.primary.known()) {
        lines_[label.span.file][sources_.line_of(label.span.file, label.span.begin)].front().text =
            escaped(label.text);
      } else {
        add(label.span, false, label.text);
      }
    }
    std::size_t largest = 1;
    for (const auto& [file, lines] : lines_) {
      if (!lines.empty()) largest = std::max(largest, number(file, lines.rbegin()->first));
    }
    margin_ = std::string(std::to_string(largest).size() + 1, ' ');
  }

  void add(const Span& span, bool primary, std::string_view text) {
    if (!span.known() || span.file >= sources_.size()) return;
    const std::size_t line = sources_.line_of(span.file, span.begin);
    const std::size_t start = sources_[span.file].lines[line];
    const std::size_t length = sources_.line_text(span.file, line).size();
    const std::size_t begin = std::min<std::size_t>(span.begin - start, length);
    const std::size_t end =
        std::clamp<std::size_t>(span.end > span.begin ? span.end - start : begin, begin, length);
    lines_[span.file][line].push_back({begin, end, primary, escaped(text)});
  }

  std::size_t number(int file, std::size_t line) const {
    return line + static_cast<std::size_t>(sources_[file].first_line);
  }

  void bar() { out_ << style_.blue() << margin_ << " |" << style_.off(); }

  void excerpt(int file, const char* arrow) {
    const auto& lines = lines_[file];
    if (lines.empty()) return;
    const auto& [line, underlines] = file == d_.primary.file
                                         ? *lines.find(sources_.line_of(file, d_.primary.begin))
                                         : *lines.begin();
    const std::uint32_t offset =
        sources_[file].lines[line] + static_cast<std::uint32_t>(underlines.front().begin);
    const Position at = sources_.position(file, offset);
    out_ << style_.blue() << margin_ << arrow << style_.off() << ' ' << escaped(sources_[file].name)
         << ':' << at.line << ':' << at.column << '\n';
    bar();
    out_ << '\n';
    std::size_t last = lines.begin()->first;
    for (const auto& [index, marks] : lines) {
      if (index > last + 1) out_ << style_.blue() << "..." << style_.off() << '\n';
      last = index;
      source_line(file, index, marks);
    }
  }

  void source_line(int file, std::size_t index, const std::vector<Underline>& unsorted) {
    std::vector<Underline> underlines = unsorted;
    std::stable_sort(underlines.begin(), underlines.end(),
                     [](auto& a, auto& b) { return a.begin < b.begin; });
    const ShownLine line(sources_.line_text(file, index), underlines.front().begin);
    const std::string n = std::to_string(number(file, index));
    out_ << style_.blue() << std::string(margin_.size() - n.size(), ' ') << n << " |"
         << style_.off() << (line.shown().empty() ? "" : " ") << line.shown() << '\n';
    bar();
    out_ << ' ' << coloured(row_of_marks(line, underlines), style_, d_.severity);
    if (!underlines.back().text.empty()) out_ << ' ' << underlines.back().text;
    out_ << '\n';
    for (std::size_t i = underlines.size() - 1; i-- > 0;) {
      if (underlines[i].text.empty()) continue;
      bar();
      out_ << ' ' << std::string(line.column(underlines[i].begin), ' ') << underlines[i].text
           << '\n';
    }
  }

  void notes() {
    if (d_.notes.empty()) return;
    if (d_.primary.known()) {
      bar();
      out_ << '\n';
    }
    for (const Note& note : d_.notes) {
      out_ << style_.blue() << margin_ << " =" << style_.off() << ' ';
      if (note.kind == "at") {
        out_ << "at ";
      } else if (!note.kind.empty()) {
        out_ << style_.bold() << escaped(note.kind) << style_.off() << ": ";
      }
      out_ << escaped(note.text) << '\n';
    }
  }

  const Sources& sources_;
  const Diagnostic& d_;
  Style style_;
  std::map<int, std::map<std::size_t, std::vector<Underline>>>
      lines_;  // the primary underline stands first in its line
  std::string margin_ = "  ";
  std::ostringstream out_;
};

}  // namespace

std::string render(const Sources& sources, const Diagnostic& diagnostic, Colour colour) {
  return Renderer(sources, diagnostic, Style{colour == Colour::always}).text();
}

std::string render(const Sources& sources, const Diagnostics& diagnostics, Colour colour) {
  std::string result;
  for (const Diagnostic& d : diagnostics.list()) {
    if (!result.empty()) result += '\n';
    result += render(sources, d, colour);
  }
  if (diagnostics.dropped() > 0)
    result += "\nand " + std::to_string(diagnostics.dropped()) + " more errors\n";
  return result;
}

}  // namespace lay
