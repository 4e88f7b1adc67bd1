#include "frontend/syntax/strings.h"

namespace lay::syntax {

std::string string_value(std::string_view literal) {
  std::string result;
  for (std::size_t i = 1; i + 1 < literal.size(); ++i) {
    if (literal[i] != '\\') {
      result += literal[i];
      continue;
    }
    const char c = literal[++i];
    result += c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }
  return result;
}

std::string string_literal(std::string_view value) {
  std::string result = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace lay::syntax
