#include "runtime/io/json.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "frontend/source/text.h"

namespace lay::runtime {

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (!c.valid) {
      result += "\\ufffd";
    } else if (c.code == '"' || c.code == '\\') {
      result += '\\';
      result += static_cast<char>(c.code);
    } else if (c.code == '\n') {
      result += "\\n";
    } else if (c.code == '\t') {
      result += "\\t";
    } else if (c.code < 0x20 || c.code == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c.code));
      result += escaped;
    } else {
      result += text.substr(at, c.length);
    }
    at += c.length;
  }
  return result + '"';
}

namespace {

template <class Real>
std::string shortest(Real value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

}  // namespace

std::string json_number(double value) {
  return shortest(value);
}
std::string json_number(float value) {
  return shortest(value);
}

std::string json_array(const std::vector<std::string>& elements) {
  std::string text = "[";
  for (const auto& element : elements) {
    if (text.size() > 1) text += ',';
    text += element;
  }
  return text + "]";
}

std::string json_strings(const std::vector<std::string>& texts) {
  std::vector<std::string> elements;
  for (const std::string& text : texts) elements.push_back(json_string(text));
  return json_array(elements);
}

JsonObject& JsonObject::raw(std::string_view key, std::string_view json) {
  if (!members_.empty()) members_ += ',';
  members_ += json_string(key);
  members_ += ':';
  members_ += json;
  return *this;
}

namespace {

// Returns true if the array that begins at `at` holds neither objects nor arrays.
bool is_plain_array(std::string_view json, std::size_t at) {
  bool in_string = false;
  for (++at; at < json.size(); ++at) {
    if (in_string) {
      if (json[at] == '\\') ++at;
      in_string = at < json.size() && json[at] != '"';
    } else if (json[at] == '"') {
      in_string = true;
    } else if (json[at] == '{' || json[at] == '[') {
      return false;
    } else if (json[at] == ']') {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string json_indented(std::string_view json) {
  std::string text;
  std::size_t level = 0;
  bool in_string = false;
  int plain = 0;  // inside an array that stays on its line
  const auto new_line = [&] { text += '\n' + std::string(2 * level, ' '); };
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (in_string) {
      text += c;
      if (c == '\\' && at + 1 < json.size()) text += json[++at];
      in_string = c != '"';
    } else if (c == '"') {
      text += c;
      in_string = true;
    } else if (c == '[' && is_plain_array(json, at)) {
      text += c;
      ++plain;
    } else if (c == ']' && plain > 0) {
      text += c;
      --plain;
    } else if (c == '{' || c == '[') {
      text += c;
      ++level;
      if (at + 1 < json.size() && (json[at + 1] == '}' || json[at + 1] == ']')) {
        --level;
        text += json[++at];
      } else {
        new_line();
      }
    } else if (c == '}' || c == ']') {
      --level;
      new_line();
      text += c;
    } else if (c == ',') {
      text += plain > 0 ? ", " : ",";
      if (plain == 0) new_line();
    } else {
      text += c;
      if (c == ':') text += ' ';
    }
  }
  return text + "\n";
}

}  // namespace lay::runtime
