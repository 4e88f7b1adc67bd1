// Writing JSON: a text built piece by piece. Integers are exact; every text comes out as valid
// UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lay::runtime {

// Values as JSON text.
std::string json_string(std::string_view text);
std::string json_number(
    double value);  // what JSON cannot say ("nan", "inf", "-inf") becomes a string
// The fewest digits that read back to the same f32.
std::string json_number(float value);
std::string json_array(const std::vector<std::string>& elements);
// ["a","b"]: an array of texts, each of which becomes a JSON string.
std::string json_strings(const std::vector<std::string>& texts);

// An object on one line: JsonObject().string("kind", "int").raw("value", "8").text() ==
// {"kind":"int","value":8}
class JsonObject {
 public:
  JsonObject& raw(std::string_view key, std::string_view json);
  JsonObject& string(std::string_view key, std::string_view value) {
    return raw(key, json_string(value));
  }
  JsonObject& integer(std::string_view key, std::int64_t value) {
    return raw(key, std::to_string(value));
  }
  JsonObject& boolean(std::string_view key, bool value) {
    return raw(key, value ? "true" : "false");
  }

  std::string text() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

// The same JSON with two spaces of indentation a level, for files that people read. Arrays of plain
// values stay on their line.
std::string json_indented(std::string_view json);

}  // namespace lay::runtime
