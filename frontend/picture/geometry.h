#pragma once

// Where everything of a picture lies, in pixels of 1/96 inch, y downwards. The renderers for paper
// and page share it.

#include <string>
#include <vector>

#include "frontend/picture/picture.h"

namespace lay::picture {

inline constexpr double kFont = 12, kSmallFont = 9, kTitleFont = 15;
inline constexpr double kAdvance = 0.6;  // of a character of a monospaced font, in its size

// One panel: the grid's corner, the size of a box, and the headers around it.
struct Frame {
  double x = 0, y = 0;  // of the whole, title included
  double width = 0, height = 0;
  double grid_x = 0, grid_y = 0;
  double box_width = 0, box_height = 0;
  double level_height = 0;     // of one header row above
  std::vector<double> side_x;  // where each header column begins
  std::vector<double> side_width;
  double notes_y = 0;  // of the first note's baseline
};

struct Geometry {
  double width = 0, height = 0;
  double title_y = 0, subtitle_y = 0;  // baselines
  double key_y = 0;                    // of the first line below the panels
  std::vector<Frame> frames;           // one a panel
};

inline constexpr double kMargin = 16, kLine = 16;

// On a page boxes leave room for the coordinate in place of the label, in small print; elsewhere
// the panels that are for pages only take no room.
Geometry geometry_of(const Picture& picture, bool page = false);

// The font size at which the text fits the width.
double fitting_font(const std::string& text, double width, double most);

}  // namespace lay::picture
