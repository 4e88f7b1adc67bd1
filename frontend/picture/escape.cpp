#include "frontend/picture/escape.h"

#include "frontend/source/text.h"

namespace lay::picture {
namespace {

bool is_control(const Character& c) {
  return !c.valid || c.code < 0x20 || (c.code >= 0x7f && c.code < 0xa0) ||
         is_bidi_control(c.code) || c.code == 0xfffe || c.code == 0xffff;
}

std::string tex_of(char32_t code) {
  switch (code) {
    case U'\\':
      return "\\textbackslash{}";
    case U'{':
      return "\\{";
    case U'}':
      return "\\}";
    case U'$':
      return "\\$";
    case U'&':
      return "\\&";
    case U'#':
      return "\\#";
    case U'%':
      return "\\%";
    case U'_':
      return "\\_";
    case U'^':
      return "\\textasciicircum{}";
    case U'~':
      return "\\textasciitilde{}";
    case U'<':
      return "\\textless{}";
    case U'>':
      return "\\textgreater{}";
    case U'|':
      return "\\textbar{}";
    case U'"':
      return "''";
    case U'∘':
      return "$\\circ$";
    default:
      return code < 0x7f ? std::string(1, static_cast<char>(code)) : "?";
  }
}

}  // namespace

std::string xml(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (is_control(c))
      result += "\xef\xbf\xbd";
    else if (c.code == U'&')
      result += "&amp;";
    else if (c.code == U'<')
      result += "&lt;";
    else if (c.code == U'>')
      result += "&gt;";
    else if (c.code == U'"')
      result += "&quot;";
    else if (c.code == U'\'')
      result += "&#39;";
    else
      result += text.substr(at, c.length);
    at += c.length;
  }
  return result;
}

std::string tex(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    result += is_control(c) ? "?" : tex_of(c.code);
    at += c.length;
  }
  return result;
}

std::string plain(std::string_view text) {
  return escaped(text);
}

}  // namespace lay::picture
