#include "backend/ir/text/text.h"

#include <charconv>
#include <cmath>
#include <set>

namespace lay::ir::text {
namespace {

// Words that stand where a name could: at the start of a statement, after `copy`, in an expression,
// in an integer.
const std::set<std::string_view>& keywords() {
  static const std::set<std::string_view> kKeywords = [] {
    std::set<std::string_view> all{
        "let", "shuffle", "atomic_count", "any",   "fill",  "copy",     "mma",        "for",
        "if",  "else",    "elect",        "tiles", "fence", "commit",   "wait_group", "advance",
        "at",  "slot",    "phase",        "and",   "or",    "not",      "true",       "false",
        "inf", "nan",     "then",         "o",     "Sw",    "ceil_div", "floor_div"};
    const auto add = [&](const auto& table) {
      for (const auto& row : table.rows) all.insert(row.second);
    };
    add(kBuiltins);
    all.insert(kCopies.begin(), kCopies.end());
    all.insert(kSyncs.begin(), kSyncs.end());
    for (const FunctionRow& row : function_rows()) all.insert(row.name);
    for (const ElementRow& row : element_rows()) all.insert(row.name);
    return all;
  }();
  return kKeywords;
}

template <class Float>
std::string shortest(Float value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string out(buffer, end);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

}  // namespace

bool reserved(std::string_view word) {
  return keywords().count(word) != 0;
}

std::string name(std::string_view raw) {
  if (!reserved(raw)) return std::string(raw);
  return "`" + std::string(raw) + "`";
}

std::string number(double value, ElementType type) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return type == ElementType::f64 ? shortest(value) : shortest(static_cast<float>(value));
}

std::string quoted(std::string_view raw) {
  std::string out = "\"";
  for (const char c : raw) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace lay::ir::text
