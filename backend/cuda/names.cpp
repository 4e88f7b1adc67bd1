#include "backend/cuda/names.h"

#include <cstdint>

namespace lay::cuda {
namespace {

constexpr std::size_t longest_name = 48, longest_comment = 200;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Letters, digits and single underscores, beginning with a letter and ending without an underscore.
std::string stem(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (out.size() == longest_name) break;
    if (is_letter(c) || is_digit(c)) {
      if (out.empty() && is_digit(c)) out = "x";
      out += c;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out.empty() ? "x" : out;
}

}  // namespace

std::string Names::add(std::string_view name) {
  const std::string base = stem(name);
  std::string candidate = base + '_';
  for (int count = 2; !taken_.insert(candidate).second; ++count)
    candidate = base + '_' + std::to_string(count) + '_';
  return candidate;
}

std::string function_name(std::string_view kernel) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = stem(kernel);
  if (out == kernel) return "lay_" + out;
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (char c : kernel) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  out += '_';
  for (int shift = 28; shift >= 0; shift -= 4) out += digits[(hash >> shift) & 15];
  return "lay_" + out;
}

std::string comment_text(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (char c : text) {
    if (out.size() >= longest_comment) return out + " ...";
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte < 0x7f && c != '\\' && c != '?';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out;
}

}  // namespace lay::cuda
