#pragma once

// A picture as data: what is drawn, before anybody asks whether it becomes characters, SVG, HTML or
// TeX.
//
//     Picture p = draw_layout({"a", layout(tuple(4, 2), tuple(1, 4))});        draw.h
//     p.panels[0].rows == 4   p.panels[0].at(1, 1).label == "5"
//     to_text(p, {})   to_svg(p)   to_html(p)   to_tex(p)                      render.h
//
// A picture is a row of panels; a panel is a grid of boxes with headers above and to the left. The
// address line of a layout is a panel as well: a box for each offset, in rows.

#include <cstdint>
#include <string>
#include <vector>

namespace lay::picture {

inline constexpr int kNoColour = -1;

enum class BoxKind : uint8_t {
  cell,
  nothing,  // no box: the end of a row that is not full
  gap,      // nothing stands here: an offset that no coordinate reaches, an element that no thread
            // holds
  alias,    // several stand here
  past_the_end,  // of an operand: what a divide that rounds up reaches beyond it
};

// The texts of a box, and those of a page when the box is pointed at; texts that do not apply are
// empty.
struct Box {
  BoxKind kind = BoxKind::cell;
  std::string label;  // "5", "T3"
  // A second, smaller line: "V1", the bank "b7", the tile "#2"
  std::string mark;
  // A number of the palette (palette.h)
  int colour = kNoColour;
  std::string
      offset;  // where it lies: "5", or the coordinate that a layout with basis strides gives
  // The 1-D index of its coordinate.
  std::string index;
  std::string coordinate;  // "((1,0),1)"
  // The thread, or the tile, that it belongs to.
  std::string owner;
  // The elements that the box stands for, separated by blanks: pages link boxes that name the same.
  // Empty: the offset is what links it.
  std::string links;
};

// Header cells from `begin` up to `end` under one text.
struct Band {
  int begin, end;
  std::string label;
};

// One row of headers: the digits of one mode of the shape. The caption is that mode, "4:2".
struct Level {
  std::string caption;
  std::vector<Band> bands;
};

// The headers along one side, slowest level first, and where nesting puts a line: `weight[k]`
// levels turn over before position k.
struct Axis {
  std::vector<Level> levels;
  std::vector<int> weight;
};

// Where a panel stands. The three panels of a multiply-add follow each other, `above` first: B
// above, A on the left, C in the corner between them, so that an element of C lies in the row of A
// and in the column of B that it is computed from.
enum class Stand : uint8_t { free, above, left, corner };

struct Panel {
  std::string title;
  Stand stand = Stand::free;
  int rows = 0, columns = 0;
  std::vector<Box> boxes;  // row by row
  Axis top, left;
  // Below the panel: what was left out.
  std::vector<std::string> notes;
  // The address line: one box an offset.
  bool is_line = false;
  // Boxes one behind the other, which a narrow terminal breaks where it must.
  bool is_row = false;
  std::int64_t first = 0;      // of a row: what its first box counts as
  bool on_pages_only = false;  // of use only where boxes can be pointed at

  Box& at(int row, int column) {
    return boxes[static_cast<size_t>(row) * static_cast<size_t>(columns) + column];
  }
  const Box& at(int row, int column) const {
    return boxes[static_cast<size_t>(row) * static_cast<size_t>(columns) + column];
  }
};

struct Picture {
  std::string title;
  std::string subtitle;  // the value that is drawn
  std::vector<Panel> panels;
  std::string
      key;  // what colour says, and marks: "the tile, #0 the first"; empty where they say nothing

  std::string owner;  // what Box::owner names: "thread", "tile"; empty: nothing to isolate
  // Marks say what colour does not: they stand also where there are colours.
  bool marks_needed = false;
  std::vector<std::string> notes;
};

// The picture as paper and pages draw it: a panel in the corner has the headers of its neighbours
// and none of its own.
Picture without_corner_headers(Picture picture);

// Several pictures as one, each panel under its picture's name.
Picture merged(const std::vector<Picture>& pictures);

}  // namespace lay::picture
