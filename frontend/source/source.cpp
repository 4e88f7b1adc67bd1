#include "frontend/source/source.h"

#include <algorithm>
#include <utility>

#include "frontend/source/text.h"

namespace lay {
namespace {

std::string normalised(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      result += text[i];
    } else if (i + 1 >= text.size() || text[i + 1] != '\n') {
      result += '\n';
    }
  }
  return result;
}

}  // namespace

int Sources::add(std::string name, std::string_view text, int first_line) {
  Source source{std::move(name), normalised(text), {0}, first_line};
  for (std::size_t i = 0; i < source.text.size(); ++i) {
    if (source.text[i] == '\n') source.lines.push_back(static_cast<std::uint32_t>(i + 1));
  }
  files_.push_back(std::move(source));
  return size() - 1;
}

std::size_t Sources::line_of(int file, std::uint32_t offset) const {
  const std::vector<std::uint32_t>& lines = (*this)[file].lines;
  return static_cast<std::size_t>(std::upper_bound(lines.begin(), lines.end(), offset) -
                                  lines.begin()) -
         1;
}

std::string_view Sources::line_text(int file, std::size_t line) const {
  const Source& source = (*this)[file];
  std::size_t begin = source.lines.at(line);
  std::size_t end =
      line + 1 < source.lines.size() ? source.lines[line + 1] - 1 : source.text.size();
  return std::string_view(source.text).substr(begin, end - begin);
}

Position Sources::position(int file, std::uint32_t offset) const {
  if (file < 0 || file >= size()) return {};
  std::size_t line = line_of(file, offset);
  std::string_view text = line_text(file, line);
  std::size_t within = std::min<std::size_t>(offset - (*this)[file].lines[line], text.size());
  int column = 1;
  for (std::size_t i = 0; i < within; i += character_at(text, i).length) ++column;
  return {(*this)[file].first_line + static_cast<int>(line), column};
}

std::string_view Sources::text(const Span& span) const {
  if (span.file < 0 || span.file >= size() || span.begin > span.end) return {};
  std::string_view text = (*this)[span.file].text;
  if (span.begin >= text.size()) return {};
  return text.substr(span.begin, span.end - span.begin);
}

}  // namespace lay
