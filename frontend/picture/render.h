#pragma once

// A picture in the form of each target. Names and values are escaped for it: no text of a script
// becomes markup.

#include <string>
#include <string_view>

#include "frontend/picture/picture.h"

namespace lay::picture {

enum class Colours : uint8_t { none, few, all };  // of a terminal: none, 256, 24 bits

struct TextOptions {
  Colours colours = Colours::none;
  // Panels stand beside each other as far as they fit; 0: all of them.
  int columns = 0;
  // A panel that is wider loses columns, with a note.
  bool cut = false;
};

// Lines for a terminal, without a newline at the end. Without colours the marks say what colour
// says.
std::string to_text(const Picture& picture, const TextOptions& options);

// A whole SVG document.
std::string to_svg(const Picture& picture);

// One HTML page that needs nothing else: the SVG with what the boxes mean, and a script (page.cpp)
// that links equal offsets, isolates a thread, tile or bank, and switches between offset, index and
// coordinate.
std::string to_html(const Picture& picture);

// A LaTeX document of class standalone, the picture in TikZ.
std::string to_tex(const Picture& picture);

}  // namespace lay::picture
