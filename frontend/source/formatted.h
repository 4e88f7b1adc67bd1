// Numbers and words by a format of printf, as text.
#pragma once

#include <cstdio>
#include <string>

namespace lay {

// Returns what snprintf writes, of at most 255 characters.
std::string formatted(const char* format, auto... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

}  // namespace lay
