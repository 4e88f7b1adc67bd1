// Numbers of a plan as a schedule writes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace lay::plan {

// An entry of a schedule: "  stages        = 2".
inline std::string entry(std::string key, const std::string& value) {
  constexpr std::size_t widest = 13;  // rasterization
  key.resize(std::max(widest, key.size()), ' ');
  return "  " + key + " = " + value;
}

// "1 element", "8 elements"
inline std::string elements(int count) {
  return std::to_string(count) + (count == 1 ? " element" : " elements");
}

// (128,256,64)
template <class Numbers>
std::string tuple_text(const Numbers& numbers) {
  std::string text;
  for (const auto number : numbers) text += (text.empty() ? "(" : ",") + std::to_string(number);
  return text + ")";
}

}  // namespace lay::plan
