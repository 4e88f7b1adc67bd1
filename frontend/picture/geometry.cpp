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

// A frame whose boxes are no smaller than those of `like`.
Frame frame_of(const Panel& panel, bool coordinates, const Frame& like = {}) {
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
  f.box_width = std::max({26.0, label + 10, like.box_width});
  f.box_height = std::max(marks ? 32.0 : 24.0, like.box_height);
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
  f.x += x;
  f.y += y;
  f.grid_x += x;
  f.grid_y += y;
  f.notes_y += y;
  for (double& side : f.side_x) side += x;
}

// The frames of a multiply-add at (0,0): boxes of one size, C's columns below B's and its rows
// beside A's. Gives back what they take together.
Frame place_multiply_add(const Panel* panels, bool page, std::vector<Frame>& frames) {
  Frame widest;
  for (int k = 0; k < 3; ++k) {
    const Frame f = frame_of(panels[k], page);
    widest.box_width = std::max(widest.box_width, f.box_width);
    widest.box_height = std::max(widest.box_height, f.box_height);
  }
  for (int k = 0; k < 3; ++k) frames[k] = frame_of(panels[k], page, widest);
  Frame &above = frames[0], &left = frames[1], &corner = frames[2];
  const double x = left.width + kSpace + above.grid_x;
  const double y = above.height + kSpace / 2 + std::max(left.grid_y, corner.grid_y);
  move(above, x - above.grid_x, 0);
  move(left, 0, y - left.grid_y);
  move(corner, x - corner.grid_x, y - corner.grid_y);
  Frame all;
  for (int k = 0; k < 3; ++k) {
    all.width = std::max(all.width, frames[k].x + frames[k].width);
    all.height = std::max(all.height, frames[k].y + frames[k].height);
  }
  return all;
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
  // Frames of size `all` at (0,0) go to the right of what stands there, or into a next row.
  const auto stand = [&](std::vector<Frame> frames, const Frame& all, bool own_row) {
    if (x > kMargin && (x + all.width > kWidest || own_row)) {
      x = kMargin;
      y += row_height + kSpace / 2;
      row_height = 0;
    }
    for (Frame& f : frames) {
      move(f, x, y);
      g.frames.push_back(std::move(f));
    }
    x += all.width + kSpace;
    row_height = std::max(row_height, all.height);
    g.width = std::max(g.width, x - kSpace + kMargin);
  };
  for (size_t k = 0; k < picture.panels.size(); ++k) {
    const Panel& panel = picture.panels[k];
    if (panel.stand == Stand::above) {
      std::vector<Frame> three(3);
      const Frame all = place_multiply_add(&panel, page, three);
      stand(std::move(three), all, false);
      k += 2;
      continue;
    }
    if (panel.on_pages_only && !page) {
      g.frames.emplace_back();
      continue;
    }
    const Frame f = frame_of(panel, page);
    stand({f}, f, panel.is_line);
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
