// Numbers of a plan as a schedule writes them.
#pragma once

#include <array>
#include <string>

namespace lay::plan {

// (128,256,64)
template <class Number, std::size_t n>
std::string tuple_text(const std::array<Number, n>& numbers) {
  std::string text = "(";
  for (std::size_t i = 0; i < n; ++i) text += (i ? "," : "") + std::to_string(numbers[i]);
  return text + ")";
}

}  // namespace lay::plan
