#include "runtime/repl/result_text.h"

#include <algorithm>

#include "frontend/algebra/layouts/layout.h"

namespace lay::runtime {
namespace {

constexpr std::string_view header = "\x1b[36m", plain = "\x1b[0m";

std::string coloured_word(std::string_view line, std::size_t begin, std::size_t end) {
  std::string text(line.substr(0, begin));
  text += header;
  text += line.substr(begin, end - begin);
  text += plain;
  text += line.substr(end);
  return text;
}

std::string rank_and_depth(int rank, int depth) {
  return " of rank " + std::to_string(rank) + " and depth " + std::to_string(depth);
}

std::string counted(const Layout& layout) {
  const auto& [domain, codomain] = layout.units;
  std::string text;
  if (domain.counts != Counts::none) text += ", from " + domain.to_string();
  if (codomain.counts != Counts::none) text += ", to " + codomain.to_string();
  return text;
}

}  // namespace

// The first line is the value, the second the header of the columns; in each further line the first
// word is the header of the row.
std::string coloured(std::string_view printed) {
  const std::size_t first_end = printed.find('\n');
  if (first_end == printed.npos) return std::string(printed);
  std::string text(printed.substr(0, first_end));
  bool is_header = true;
  for (std::size_t at = first_end + 1; at <= printed.size();) {
    const std::size_t end = std::min(printed.find('\n', at), printed.size());
    const std::string_view line = printed.substr(at, end - at);
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    text += '\n' +
            coloured_word(line, begin,
                          is_header ? line.size() : std::min(line.find(' ', begin), line.size()));
    is_header = false;
    at = end + 1;
  }
  return text;
}

std::string clipped(const std::string& text, int columns) {
  if (columns < 8) return text;
  const auto most = static_cast<std::size_t>(columns);
  std::string result;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const bool fits = end - at <= most || at == 0;  // the first line is the value itself
    result += fits ? text.substr(at, end - at) : text.substr(at, most - 3) + "...";
    if (end < text.size()) result += '\n';
    at = end + 1;
  }
  return result;
}

std::string type_text(const sema::Value& value) {
  std::string text = sema::kind_name(value);
  if (const auto* layout = value.as<Layout>())
    text += rank_and_depth(layout->rank(), layout->depth()) + counted(*layout);
  else if (const auto* tuple = value.as<Tuple>(); tuple && tuple->is_tuple())
    text += rank_and_depth(tuple->rank(), tuple->depth());
  else if (const auto* array = value.as<sema::Array>())
    text += " of " + std::to_string(array->rank()) + " dimensions of " +
            std::string(element_name(array->element));
  if (!value.guards.empty()) text += ", guarded";
  return text;
}

}  // namespace lay::runtime
