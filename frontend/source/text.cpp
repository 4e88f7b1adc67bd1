#include "frontend/source/text.h"

#include <algorithm>
#include <cstdio>

namespace lay {

Character character_at(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[offset + i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const Character bad{first, 1, false};
  const std::uint32_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || offset + length > text.size()) return bad;
  char32_t code = first & (0x7Fu >> length);
  for (std::uint32_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return bad;
    code = (code << 6) | (byte(i) & 0x3Fu);
  }
  const char32_t smallest = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  if (code < smallest || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return bad;
  return {code, length, true};
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank || (!line.empty() && line.back() != ' ')) line += blank ? ' ' : c;
  }
  return line;
}

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const Character c = character_at(text, i);
    if (!c.valid) return i;
    i += c.length;
  }
  return std::nullopt;
}

bool is_bidi_control(char32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  char buffer[16];
  for (std::size_t i = 0; i < text.size();) {
    const Character c = character_at(text, i);
    if (c.code == '\n') {
      result += "\\n";
    } else if (c.code == '\t') {
      result += "\\t";
    } else if (!c.valid || c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0)) {
      std::snprintf(buffer, sizeof buffer, "\\x%02x", static_cast<unsigned>(c.code));
      result += buffer;
    } else if (is_bidi_control(c.code) || c.code == 0x2028 || c.code == 0x2029 ||
               c.code == 0xFEFF) {
      std::snprintf(buffer, sizeof buffer, "\\u{%x}", static_cast<unsigned>(c.code));
      result += buffer;
    } else {
      result += text.substr(i, c.length);
    }
    i += c.length;
  }
  return result;
}

namespace {

// The number of edits between two words, or a number above `limit` once it is known to be above.
std::size_t edits(std::string_view a, std::string_view b, std::size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return limit + 1;
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] =
          std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& known) {
  if (name.size() > 64) return std::nullopt;
  std::size_t best = name.size() <= 1 ? 0 : name.size() <= 4 ? 1 : name.size() <= 8 ? 2 : 3;
  std::optional<std::string> result;
  for (const std::string& candidate : known) {
    const std::size_t distance = edits(name, candidate, best);
    if (distance > best || candidate == name || distance >= candidate.size()) continue;
    if (distance == best && result) continue;
    best = distance;
    result = candidate;
  }
  return result;
}

}  // namespace lay
