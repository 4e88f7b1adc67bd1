// Numbers of a plan as a schedule writes them.
#pragma once

#include <string>

namespace lay::plan {

// (128,256,64)
template <class Numbers>
std::string tuple_text(const Numbers& numbers) {
  std::string text;
  for (const auto number : numbers) text += (text.empty() ? "(" : ",") + std::to_string(number);
  return text + ")";
}

}  // namespace lay::plan
