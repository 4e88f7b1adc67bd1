#pragma once
// Small questions about text: is it UTF-8, how does it print safely, which known name is nearest to
// a misspelt one.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lay {

// One character of UTF-8 text. `valid` is false for a byte that begins no well-formed character
// (RFC 3629: no overlong forms, no surrogates, nothing above 10FFFF); then length is 1.
struct Character {
  char32_t code = 0;
  std::uint32_t length = 1;  // bytes
  bool valid = true;
};
Character character_at(std::string_view text, std::size_t offset);

// The offset of the first byte that is not UTF-8.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

// Characters that reorder the text around them on the screen (CVE-2021-42574): U+061C, U+200E/F,
// U+202A..E, U+2066..9.
bool is_bidi_control(char32_t code);

// Safe to print: control characters, DEL, C1, bidirectional controls and invalid bytes become \n,
// \t, \x1b, \u{202e}.
std::string escaped(std::string_view text);

// Returns the text with every run of blanks, tabs and line breaks as one blank, none at the start.
std::string one_line(std::string_view text);

// The known name that is nearest to `name` by edits (insert, delete, replace, swap of neighbours),
// if near enough to be meant: at most one edit for names up to four letters, two up to eight, three
// beyond.
std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& known);

}  // namespace lay
