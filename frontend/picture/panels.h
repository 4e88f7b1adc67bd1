#pragma once

// The panels that pictures are made of: a layout as a grid, the offsets of a layout as a line.

#include <functional>
#include <string>
#include <vector>

#include "frontend/picture/field.h"
#include "frontend/picture/picture.h"

namespace lay::picture {

// Gives a box its colour, mark and owner; offset, index and coordinate stand in it already.
struct Place {
  int slice, row, column;
};
using Dress = std::function<void(Box&, const Place&, const Tuple& value)>;

// Breaks a row into lines of `columns` boxes.
Panel broken(Panel row, int columns);

// One panel for each slice of the field. A row of more than 64 boxes is broken into rows of 32.
std::vector<Panel> grid_panels(const std::string& title, const Field& field, const Dress& dress);

// The address line: a box for each offset from the least to the greatest, with the coordinates that
// reach it. Empty where the offsets are coordinates. `colours` is asked for the box of each value,
// as Dress is. Beyond the limits the line is cut, and says so.
std::vector<Panel> line_panels(const std::string& title, const Field& field, const Limits& limits,
                               const Dress& dress);

// The same for pages only, where a grid is small enough that pointing at its addresses helps.
void add_page_line(Picture& picture, const std::string& title, const Field& field,
                   const Limits& limits, const Dress& dress);

// Returns true if the offsets, all of which are drawn, leave gaps or meet: then the line says what
// the grid does not.
bool worth_a_line(const Field& field);

}  // namespace lay::picture
