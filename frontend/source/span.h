#pragma once
// A place in a source text: the half-open range [begin, end) of byte offsets into the text of one
// file of a `Sources`.

#include <algorithm>
#include <cstdint>

namespace lay {

struct Span {
  // Index into Sources; -1: nowhere (a value made by the program, not by the text)
  int file = -1;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool known() const { return file >= 0; }
  friend bool operator==(const Span&, const Span&) = default;
};

// The smallest range that holds both; of two different files, the first.
inline Span join(const Span& a, const Span& b) {
  if (!a.known()) return b;
  if (a.file != b.file) return a;
  return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

}  // namespace lay
