#include <algorithm>
#include <optional>
#include <utility>

#include "backend/cuda/emitter.h"

namespace lay::cuda {
namespace {

constexpr std::size_t longest_text = std::size_t{32} << 20, widest_line = 110;

// Where to continue on the next line: before the last operator that leaves at most `width`
// characters, the loosest one there is. Nothing for a line that fits, or that holds a string, a
// comment or a directive.
std::optional<std::size_t> break_at(std::string_view content, std::size_t width) {
  if (content.size() <= width || content.front() == '#') return std::nullopt;
  if (content.find('"') != std::string_view::npos || content.find("//") != std::string_view::npos)
    return std::nullopt;
  for (const std::string_view at : {" ? ", " : ", " || ", " && ", " = ", " + ", ", "}) {
    const auto found = content.rfind(at, width - 2);
    const bool stays = at == " = " || at == ", ";  // at the end of the first line
    if (found != std::string_view::npos && found > width / 3)
      return found + (stays ? at.size() : 1);
  }
  return std::nullopt;
}

}  // namespace

Writer::Writer(const std::string& script)
    : script_(comment_text(script.substr(script.find_last_of('/') + 1))) {}

std::string Writer::mark(int script_line) {
  if (script_line == 0 || script_line == marked_ || script_.empty()) return "";
  marked_ = script_line;
  return script_ + ":" + std::to_string(script_line);
}

void Writer::line(const std::string& content, int script_line) {
  const auto indent = static_cast<std::size_t>(2 * indent_);
  if (const auto at = break_at(content, widest_line - std::min(indent, widest_line / 2))) {
    std::string first = content.substr(0, *at);
    while (first.back() == ' ') first.pop_back();
    text += std::string(indent, ' ') + first + '\n';
    lines.push_back(script_line);
    indent_ += continued_ ? 0 : 2;
    const bool outer = std::exchange(continued_, true);
    line(content.substr(*at), script_line);
    continued_ = outer;
    indent_ -= continued_ ? 0 : 2;
    return;
  }
  if (!content.empty()) text += std::string(indent, ' ') + content;
  if (!content.empty() && content.front() != '#')
    if (const std::string at = mark(script_line); !at.empty()) text += "  // " + at;
  text += '\n';
  lines.push_back(script_line);
  if (text.size() > longest_text)
    throw Problem{"text-limit", "the emitted text is longer than 32 MiB", script_line};
}

void Writer::note(const std::string& words, int script_line) {
  const std::string at = mark(script_line);
  line("// " + (at.empty() ? words : at + ": " + words), script_line);
}

void Writer::open(const std::string& content, int script_line) {
  line(content, script_line);
  ++indent_;
}

void Writer::close(const std::string& content) {
  --indent_;
  line(content);
}

void Writer::between(const std::string& content) {
  close(content);
  ++indent_;
}

void Writer::raw(const std::string& content) {
  text += content;
  lines.insert(lines.end(),
               static_cast<std::size_t>(std::count(content.begin(), content.end(), '\n')), 0);
}

void Writer::append(const Writer& other) {
  text += other.text;
  lines.insert(lines.end(), other.lines.begin(), other.lines.end());
}

}  // namespace lay::cuda
