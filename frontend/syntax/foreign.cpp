#include "frontend/syntax/foreign.h"

#include <algorithm>
#include <regex>
#include <string>

namespace lay::syntax {
namespace {

// std::regex recurses with the line's length.
constexpr std::size_t kLongestLine = 2000;

bool is_name_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Returns true if the line holds the text where no longer name ends.
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

// The call that `size<0>(` or `get<1>(` on the line stands for; empty where there is none.
std::string template_call(std::string_view line) {
  static const std::regex form(R"(([A-Za-z_]\w*)<(\d+(?:,\s*\d+)*)>\()");
  std::cmatch found;
  if (!std::regex_search(line.begin(), line.end(), found, form)) return "";
  return found[1].str() + "(L, " + found[2].str() + ")";
}

// Returns what a line of C++ or Python would be in Lay.
std::string of_other_languages(std::string_view line) {
  static const std::regex typed(R"(^\s*(?:let\s+)?([A-Za-z_]\w*)\s*:\s*[A-Za-z_]\w*\s*=[^=])");
  static const std::regex conditional(R"([\w)\]]\s+if\s.*\selse\s)");
  static const std::regex branch(R"(^\s*(?:if|elif|while)\s.*:(?:\s|$))");
  static const std::regex changed(R"(^\s*[A-Za-z_]\w*\s*[-+*]=)");
  static const std::regex scope(R"([A-Za-z_]\w*::[A-Za-z_])");
  if (has(line, "**")) return "there is no power operator: write x * x, or exp(y * log(x))";
  if (const std::string call = template_call(line); !call.empty())
    return "numbers in angle brackets come last among the arguments: " + call;
  std::cmatch found;
  if (std::regex_search(line.begin(), line.end(), found, typed))
    return "a value's kind is not written: let " + found[1].str() + " = ...";
  if (line.find(" then ") == line.npos && std::regex_search(line.begin(), line.end(), conditional))
    return "a condition is written `if c then a else b`";
  if (has_one(line, "/*", "*/")) return "a comment begins with // and ends with the line";
  if (std::regex_search(line.begin(), line.end(), changed))
    return "a name keeps its value: let b = a + 1";
  if (has(line, ":=")) return "write `let x = ...` to name a value";
  if (std::regex_search(line.begin(), line.end(), scope))
    return "there are no namespaces: size(L), and sm80.mma of `use atoms.sm80`";
  if (line.find(" then ") == line.npos && std::regex_search(line.begin(), line.end(), branch))
    return "there are no branches of statements: let x = if c then a else b, and [f(i) for i in "
           "0..n]";
  if (line.substr(std::min(line.find_first_not_of(' '), line.size())).starts_with("return "))
    return "a function is one expression: def f(x) = x + 1";
  return "";
}

// Empty where the line has no sign of CuTe, C++ or Python.
std::string advice(std::string_view line) {
  if (line.find('"') != line.npos || line.size() > kLongestLine) return "";
  if (has(line, "Step<"))
    return "Lay has no Step: dice((1,_,1), (64,128,32)) is (64,32), for the tiler and the "
           "coordinate alike";
  if (std::string other = of_other_languages(line); !other.empty()) return other;
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
  return d.code == "syntax" || d.code == "bad-number" || d.code == "comparison-chain" ||
         d.code == "unexpected-character";
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
