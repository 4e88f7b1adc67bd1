// A picture as lines for a terminal.
#include "frontend/source/text.h"

#include <algorithm>
#include <cstdlib>

#include "frontend/picture/escape.h"
#include "frontend/picture/palette.h"
#include "frontend/picture/panels.h"
#include "frontend/picture/render.h"

namespace lay::picture {
namespace {

using Lines = std::vector<std::string>;

constexpr int kFoldedRows = 3;

// Characters, each one column wide: what pictures hold are numbers, parentheses and names.
int width_of(const std::string& text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string blanks(int count) {
  return std::string(static_cast<size_t>(std::max(count, 0)), ' ');
}
std::string to_right(const std::string& text, int width) {
  return blanks(width - width_of(text)) + text;
}
std::string to_middle(const std::string& text, int width) {
  const int before = (width - width_of(text)) / 2;
  return blanks(before) + text + blanks(width - width_of(text) - before);
}

std::string coloured(const std::string& text, int number, Colours colours) {
  if (number == kNoColour || colours == Colours::none) return text;
  const Colour c = colour(number);
  if (colours == Colours::few)
    return "\x1b[38;5;16;48;5;" + std::to_string(terminal_colour(c)) + "m" + text + "\x1b[0m";
  return "\x1b[38;2;0;0;0;48;2;" + std::to_string(c.red) + ";" + std::to_string(c.green) + ";" +
         std::to_string(c.blue) + "m" + text + "\x1b[0m";
}

// Draws one panel: headers, then a line a row.
class PanelText {
 public:
  // A box takes at least `box_width` columns.
  PanelText(const Panel& panel, const TextOptions& options, bool marks, int box_width = 1)
      : panel_(panel), options_(options), marks_(marks || panel.is_line), box_width_(box_width) {
    for (const Box& box : panel.boxes) box_width_ = std::max(box_width_, width_of(label(box)));
    for (const Level& level : panel.top.levels)
      for (const Band& band : level.bands)
        box_width_ =
            std::max(box_width_, (width_of(plain(band.label)) + band.end - band.begin - 1) /
                                     (band.end - band.begin));
    for (const Level& level : panel.left.levels) {
      int width = width_of(plain(level.caption));
      for (const Band& band : level.bands) width = std::max(width, width_of(plain(band.label)));
      side_widths_.push_back(width);
      side_ += width + 2;
    }
    for (const Level& level : panel.top.levels)
      side_ = std::max(side_, width_of(plain(level.caption)) + 2);
    columns_ = fitting();
  }

  Lines lines() const {
    Lines lines;
    if (!panel_.title.empty()) lines.push_back(plain(panel_.title));
    for (const Level& level : panel_.top.levels) lines.push_back(header(level));
    const bool captions = std::any_of(panel_.left.levels.begin(), panel_.left.levels.end(),
                                      [](const Level& level) { return !level.caption.empty(); });
    if (captions) lines.push_back(beside([](const Level& level) { return level.caption; }));
    for (int row = 0; row < panel_.rows;) {
      if (const int gaps = rows_of_gaps(row); gaps >= kFoldedRows) {
        lines.push_back(to_right("...", side_ - 2) + "  " + std::to_string(gaps) + " rows of gaps");
        row += gaps;
      } else {
        lines.push_back(row_of(row++));
      }
    }
    for (const std::string& note : panel_.notes) lines.push_back(plain(note));
    if (columns_ < panel_.columns)
      lines.push_back("... and " + std::to_string(panel_.columns - columns_) + " of " +
                      std::to_string(panel_.columns) + " columns that do not fit here");
    return lines;
  }

  int box_width() const { return box_width_; }
  // Columns before the grid, and lines above it.
  int side() const { return side_; }
  int head() const {
    const bool captions = std::any_of(panel_.left.levels.begin(), panel_.left.levels.end(),
                                      [](const Level& level) { return !level.caption.empty(); });
    return !panel_.title.empty() + static_cast<int>(panel_.top.levels.size()) + captions;
  }

  bool fits() const { return columns_ == panel_.columns; }

  int width() const {
    int widest = side_;
    for (int j = 0; j < columns_; ++j) widest += separation(j) + box_width_ + 2;
    return std::max(widest, width_of(plain(panel_.title)));
  }

 private:
  std::string label(const Box& box) const {
    if (box.kind == BoxKind::nothing) return "";
    if (box.kind == BoxKind::gap) return box.label.empty() ? "." : plain(box.label);
    return plain(marks_ ? box.label + box.mark : box.label);
  }

  // Returns how many rows from here on are gaps alone, on an address line.
  int rows_of_gaps(int row) const {
    int gaps = 0;
    for (; panel_.is_line && row < panel_.rows; ++row, ++gaps)
      for (int j = 0; j < panel_.columns; ++j) {
        const BoxKind kind = panel_.at(row, j).kind;
        if (kind != BoxKind::gap && kind != BoxKind::nothing) return gaps;
      }
    return gaps;
  }

  // A line stands between two columns where the nesting turns over.
  int separation(int column) const { return column > 0 && panel_.top.weight[column] > 0 ? 1 : 0; }

  int fitting() const {
    if (!options_.cut || options_.columns == 0) return panel_.columns;
    int used = side_, columns = 0;
    while (columns < panel_.columns) {
      used += separation(columns) + box_width_ + 2;
      if (used > options_.columns) break;
      ++columns;
    }
    return std::max(columns, 1);
  }

  std::string header(const Level& level) const {
    std::string line = to_right(plain(level.caption), side_ - 2) + "  ";
    for (const Band& band : level.bands) {
      if (band.begin >= columns_) break;
      const int end = std::min(band.end, columns_);
      int width = (end - band.begin) * (box_width_ + 2);
      for (int j = band.begin + 1; j < end; ++j) width += separation(j);
      line += (separation(band.begin) ? "|" : "");
      line += end - band.begin == 1 ? " " + to_right(plain(band.label), box_width_) + " "
                                    : to_middle(plain(band.label), width);
    }
    return line;
  }

  template <typename Text>
  std::string beside(Text&& text) const {
    int listed = 0;
    for (const int width : side_widths_) listed += width + 2;
    std::string line = blanks(side_ - listed);
    for (size_t k = 0; k < side_widths_.size(); ++k)
      line += to_right(plain(text(panel_.left.levels[k])), side_widths_[k]) + "  ";
    return line;
  }

  std::string row_of(int row) const {
    std::string line = beside([&](const Level& level) {
      const auto band = std::find_if(level.bands.begin(), level.bands.end(),
                                     [&](const Band& b) { return b.begin == row; });
      return band == level.bands.end() ? std::string() : band->label;
    });
    for (int j = 0; j < columns_; ++j) {
      const Box& box = panel_.at(row, j);
      line += separation(j) ? "|" : "";
      line += coloured(" " + to_right(label(box), box_width_) + " ", box.colour, options_.colours);
    }
    return line;
  }

  const Panel& panel_;
  const TextOptions& options_;
  bool marks_;
  int box_width_, side_ = 0, columns_ = 0;
  std::vector<int> side_widths_;
};

// A row that is too wide as several, of a power of two.
Panel fitted(const Panel& panel, const TextOptions& options, bool marks) {
  if (!panel.is_row || PanelText(panel, options, marks).fits()) return panel;
  int columns = 1;
  while (2 * columns < panel.columns) columns *= 2;
  for (; columns > 1; columns /= 2)
    if (Panel narrower = broken(panel, columns); PanelText(narrower, options, marks).fits())
      return narrower;
  return broken(panel, 1);
}

struct Block {
  Lines lines;
  int width;
};

// The width that a line takes on the screen: escape sequences take none.
int shown_width(const std::string& line) {
  int width = 0;
  bool escape = false;
  for (const char c : line) {
    if (c == '\x1b') escape = true;
    if (!escape && (c & 0xc0) != 0x80) ++width;
    if (escape && c == 'm') escape = false;
  }
  return width;
}

void trim(std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
}

// Blocks beside each other.
void append_beside(Lines& all, const std::vector<Block>& blocks) {
  size_t height = 0;
  for (const Block& block : blocks) height = std::max(height, block.lines.size());
  for (size_t i = 0; i < height; ++i) {
    std::string line;
    int owed = 0;
    for (const Block& block : blocks) {
      const std::string text = i < block.lines.size() ? block.lines[i] : "";
      line += blanks(owed) + text;
      owed = block.width - shown_width(text) + 4;
    }
    trim(line);
    all.push_back(std::move(line));
  }
}

// Three panels of a multiply-add as one block: C's columns below B's, its rows beside A's.
Block multiply_add_block(const Panel* panels, const TextOptions& options, bool marks) {
  int box_width = 1;
  for (int k = 0; k < 3; ++k)
    box_width = std::max(box_width, PanelText(panels[k], options, marks).box_width());
  Panel bare = panels[2];
  bare.top.levels.clear();
  bare.left.levels.clear();
  const PanelText above(panels[0], options, marks, box_width),
      left(panels[1], options, marks, box_width), corner(bare, options, marks, box_width);
  const int grid = std::max(left.width() + 4 + above.side(), corner.side());
  Block block{{}, grid + std::max(above.width() - above.side(), corner.width() - corner.side())};
  for (const std::string& line : above.lines())
    block.lines.push_back(blanks(grid - above.side()) + line);
  block.lines.emplace_back();
  Lines rows = left.lines(), others = corner.lines();
  const int lower = left.head() - corner.head();
  (lower < 0 ? rows : others)
      .insert((lower < 0 ? rows : others).begin(), static_cast<size_t>(std::abs(lower)), "");
  append_beside(block.lines, {{rows, grid - 4}, {others, corner.width()}});
  return block;
}

void append_panels(Lines& all, const Picture& picture, const TextOptions& options) {
  const bool marks = picture.marks_needed || options.colours == Colours::none;
  std::vector<Block> beside;
  int width = 0;
  const auto flush = [&] {
    if (beside.empty()) return;
    all.emplace_back();
    append_beside(all, beside);
    beside.clear();
    width = 0;
  };
  for (size_t k = 0; k < picture.panels.size(); ++k) {
    const Panel& panel = picture.panels[k];
    if (panel.on_pages_only) continue;
    if (panel.stand == Stand::above) {
      TextOptions whole = options;
      whole.cut = false;
      Block block = multiply_add_block(&panel, whole, marks);
      // A block that does not fit stands panel by panel, each cut as others are.
      if (!options.cut || options.columns == 0 || block.width <= options.columns) {
        flush();
        beside.push_back(std::move(block));
        flush();
        k += 2;
        continue;
      }
    }
    const Panel shown = fitted(panel, options, marks);
    const PanelText text(shown, options, marks);
    Block block{text.lines(), text.width()};
    for (const std::string& note : panel.notes)
      block.width = std::max(block.width, width_of(plain(note)));
    const bool fits = options.columns == 0 || width + block.width <= options.columns;
    if (!fits || panel.is_line) flush();
    width += block.width + 4;
    beside.push_back(std::move(block));
  }
  flush();
}

bool has_marks(const Picture& picture) {
  const auto marked = [](const Panel& panel) {
    return !panel.is_line && !panel.on_pages_only &&
           std::any_of(panel.boxes.begin(), panel.boxes.end(),
                       [](const Box& box) { return !box.mark.empty(); });
  };
  return std::any_of(picture.panels.begin(), picture.panels.end(), marked);
}

}  // namespace

std::string to_text(const Picture& picture, const TextOptions& options) {
  Lines lines;
  if (!picture.title.empty()) lines.push_back(plain(picture.title));
  if (!picture.subtitle.empty()) lines.push_back("= " + plain(picture.subtitle));
  append_panels(lines, picture, options);
  const bool has_key =
      !picture.key.empty() && (options.colours != Colours::none || has_marks(picture));
  if (has_key || !picture.notes.empty()) lines.emplace_back();
  if (has_key)
    lines.push_back((options.colours == Colours::none ? "marks: " : "colour: ") +
                    plain(picture.key));
  for (const std::string& note : picture.notes) lines.push_back(plain(note));
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

}  // namespace lay::picture
