#include "frontend/syntax/foreign.h"

#include <algorithm>
#include <string>

namespace lay::syntax {
namespace {

bool is_name_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Whether the line holds the text where no longer name ends.
bool has(std::string_view line, std::string_view text) {
  for (std::size_t at = line.find(text); at != line.npos; at = line.find(text, at + 1))
    if (at == 0 || !is_name_character(line[at - 1]) || !is_name_character(text.front()))
      return true;
  return false;
}

template <typename... Texts>
bool has_one(std::string_view line, Texts... texts) {
  return (has(line, texts) || ...);
}

// Empty where the line has no sign of CuTe.
std::string advice(std::string_view line) {
  if (line.find('"') != line.npos) return "";
  if (has_one(line, "smem_ptr[", "gmem_ptr[", "rmem_ptr[", "tmem_ptr[", "_smem_ptr[", "ptr[",
              "tensor<", "tensor(raw_ptr", "Layout<", "ComposedLayout<", "Shape<", "Stride<",
              "Swizzle<", "S<1,", "S<2,", "S<3,", "Int<"))
    return "cute(\"...\") reads what CuTe prints, and the names of its types";
  if (has_one(line, "(?", ",?"))
    return "a size that CuTe does not know has a name in Lay: dim N, then (8,N):(1,8)";
  if (has(line, "{}"))
    return "numbers are static without {}, and a layout is (4,2):(1,4) or make_layout((4,2), "
           "(1,4))";
  return "";
}

bool is_of_words(const Diagnostic& d) {
  return d.code == "syntax" || d.code == "bad-number" || d.code == "unexpected-character";
}

}  // namespace

void advise_on_cute(std::string_view text, std::vector<Diagnostic>& list) {
  std::size_t advised = text.npos;  // where the last such line begins
  std::vector<Diagnostic> kept;
  for (Diagnostic& d : list) {
    const std::size_t at = std::min<std::size_t>(d.primary.begin, text.size());
    const std::size_t before = at == 0 ? text.npos : text.rfind('\n', at - 1);
    const std::size_t begin = before == text.npos ? 0 : before + 1;
    const std::string help =
        is_of_words(d) ? advice(text.substr(begin, text.find('\n', at) - begin)) : "";
    if (!help.empty()) {
      if (begin == advised) continue;
      advised = begin;
      d.notes = {{"help", help}};
    }
    kept.push_back(std::move(d));
  }
  list = std::move(kept);
}

}  // namespace lay::syntax
