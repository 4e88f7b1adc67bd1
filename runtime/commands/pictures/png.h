// SVG to PNG by a converter of the machine.
#pragma once

#include <string>

namespace lay::runtime {

// Gives the bytes of a PNG file of the SVG document, two pixels for each of its own. Runs the first
// of rsvg-convert, inkscape, Chromium (or Chrome) and ImageMagick that is on PATH and makes a PNG.
// Throws MachineLacks where none does; its message names what was looked for and what to do.
std::string png_of(const std::string& svg);

}  // namespace lay::runtime
