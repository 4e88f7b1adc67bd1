#include "frontend/picture/geometry.h"

#include <algorithm>

namespace lay::picture {
namespace {

constexpr double kWidest = 1500;  // panels flow into a next row beyond it
constexpr double kSpace = 32;     // between panels
constexpr double kWidestBox = 130;

double text_width(const std::string& text, double font) {
  const auto characters =
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; });
  return static_cast<double>(characters) * font * kAdvance;
}

Frame frame_of(const Panel& panel, bool coordinates) {
  Frame f;
  bool marks = false;
  double label = 0;
  for (const Box& box : panel.boxes) {
    label = std::max({label, text_width(box.label, kFont), text_width(box.mark, kSmallFont)});
    marks = marks || !box.mark.empty();
    const bool makes_room =
        coordinates && box.kind != BoxKind::alias;  // which may have many coordinates
    if (makes_room)
      label = std::max(label, std::min(text_width(box.coordinate, kSmallFont), kWidestBox));
  }
  f.box_width = std::max(26.0, label + 10);
  f.box_height = marks ? 32 : 24;
  f.level_height = 18;
  double caption = 0;
  for (const Level& level : panel.top.levels) {
    caption = std::max(caption, text_width(level.caption, kSmallFont) + 8);
    for (const Band& band : level.bands)
      f.box_width =
          std::max(f.box_width, (text_width(band.label, kFont) + 6) / (band.end - band.begin));
  }
  double side = 0;
  for (const Level& level : panel.left.levels) {
    double width = text_width(level.caption, kSmallFont);
    for (const Band& band : level.bands) width = std::max(width, text_width(band.label, kFont));
    f.side_width.push_back(width + 10);
    side += width + 10;
  }
  const double title = panel.title.empty() ? 0 : 22;
  // The captions of the left levels stand in a row of their own, above the grid.
  const bool captions = std::any_of(panel.left.levels.begin(), panel.left.levels.end(),
                                    [](const Level& level) { return !level.caption.empty(); });
  f.grid_x = std::max(side, caption);
  f.grid_y =
      title + f.level_height * static_cast<double>(panel.top.levels.size()) + (captions ? 14 : 2);
  double x = f.grid_x - side;
  for (const double width : f.side_width) {
    f.side_x.push_back(x);
    x += width;
  }
  f.width = f.grid_x + f.box_width * panel.columns;
  f.width = std::max(f.width, text_width(panel.title, kFont));
  for (const std::string& note : panel.notes)
    f.width = std::max(f.width, text_width(note, kSmallFont + 1));
  f.height = f.grid_y + f.box_height * panel.rows;
  f.notes_y = f.height + 14;
  f.height += 15 * static_cast<double>(panel.notes.size());
  return f;
}

void move(Frame& f, double x, double y) {
  f.x = x;
  f.y = y;
  f.grid_x += x;
  f.grid_y += y;
  f.notes_y += y;
  for (double& side : f.side_x) side += x;
}

}  // namespace

Geometry geometry_of(const Picture& picture, bool page) {
  Geometry g;
  double y = kMargin;
  if (!picture.title.empty()) {
    g.title_y = y + kTitleFont;
    y += 24;
  }
  if (!picture.subtitle.empty()) {
    g.subtitle_y = y + kFont;
    y += 20;
  }
  g.width = std::max(text_width(picture.title, kTitleFont), text_width(picture.subtitle, kFont)) +
            2 * kMargin;
  y += 8;
  double x = kMargin, row_height = 0;
  for (const Panel& panel : picture.panels) {
    if (panel.on_pages_only && !page) {
      g.frames.emplace_back();
      continue;
    }
    Frame f = frame_of(panel, page);
    if (x > kMargin && (x + f.width > kWidest || panel.is_line)) {
      x = kMargin;
      y += row_height + kSpace / 2;
      row_height = 0;
    }
    move(f, x, y);
    x += f.width + kSpace;
    row_height = std::max(row_height, f.height);
    g.width = std::max(g.width, x - kSpace + kMargin);
    g.frames.push_back(std::move(f));
  }
  y += row_height + 12;
  g.key_y = y + kFont;
  for (const std::string& note : picture.notes)
    g.width = std::max(g.width, text_width(note, kFont) + 2 * kMargin);
  g.width = std::max(g.width, text_width("colour: " + picture.key, kFont) + 2 * kMargin);
  const auto lines = static_cast<double>(picture.notes.size()) + (picture.key.empty() ? 0 : 1);
  g.height = y + lines * kLine + kMargin / 2;
  return g;
}

double fitting_font(const std::string& text, double width, double most) {
  const double needed = text_width(text, most);
  return needed <= width ? most : most * width / needed;
}

}  // namespace lay::picture
