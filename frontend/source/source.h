#pragma once
// The texts of a run: every script, library file and line of input is added once and is known by
// its number from then on.
//
//   Sources sources;
//   int file = sources.add("tiles.lay", text);      // a BOM is dropped; CRLF and a lone CR become
//   LF sources.position({file, 17, 20})                // line and column, both from 1, columns in
//   characters
//
// Offsets in spans count bytes of the normalised text. Nothing is ever removed, so references stay
// valid.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/source/span.h"

namespace lay {

struct Source {
  // As the user wrote it: a path, "<input>", "atoms.sm90"
  std::string name;
  std::string text;  // normalised
  // Offset at which each line begins.
  std::vector<std::uint32_t> lines;
  // The number of the first line (the REPL and `lay eval` count on)
  int first_line = 1;
};

struct Position {
  int line = 0;    // from 1
  int column = 0;  // from 1, in characters (code points)
};

class Sources {
 public:
  // The number of the new file. Any bytes are accepted here; `parse` reports those that are not
  // text.
  int add(std::string name, std::string_view text, int first_line = 1);

  const Source& operator[](int file) const { return files_.at(static_cast<std::size_t>(file)); }
  int size() const { return static_cast<int>(files_.size()); }

  Position position(int file, std::uint32_t offset) const;
  Position position(const Span& span) const { return position(span.file, span.begin); }

  // The line (0-based index into Source::lines) that holds the offset, and its text without the
  // newline.
  std::size_t line_of(int file, std::uint32_t offset) const;
  std::string_view line_text(int file, std::size_t line) const;

  // Returns the text that the user wrote there; empty for an unknown span.
  std::string_view text(const Span& span) const;

 private:
  std::deque<Source> files_;
};

}  // namespace lay
