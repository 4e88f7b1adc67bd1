#include "frontend/picture/svg.h"

#include <array>
#include <charconv>
#include <map>
#include <set>

#include "frontend/picture/escape.h"
#include "frontend/picture/geometry.h"
#include "frontend/picture/palette.h"
#include "frontend/picture/render.h"

namespace lay::picture {
namespace {

// A tenth of a pixel is enough.
std::string number(double value) {
  std::array<char, 32> buffer;
  auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                    std::chars_format::fixed, 1);
  std::string text(buffer.data(), end);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string hexadecimal(Colour c) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "#";
  for (const int component : {int{c.red}, int{c.green}, int{c.blue}}) {
    text += digits[component / 16];
    text += digits[component % 16];
  }
  return text;
}

constexpr std::string_view style = R"(
text{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12px;fill:#111}
.l,.m,.h{text-anchor:middle}
.m,.c{font-size:9px}
.c{fill:#333}
.n{font-size:10px;fill:#333}
.h{fill:#333}
.t{font-size:15px;font-weight:bold}
.c{text-anchor:end}
.grid{fill:none;stroke:#777;stroke-width:.6}
.nest{fill:none;stroke:#111;stroke-width:1.4}
.deep{stroke-width:2.8}
.span{fill:none;stroke:#999;stroke-width:.8}
.gap{fill:#fff;stroke:#aaa;stroke-width:.6;stroke-dasharray:2 2}
.end{fill:none;stroke:#111;stroke-width:1.2;stroke-dasharray:4 2}
.ground{fill:#fff}
)";

// Light text on dark fills, where the reader's screen is dark.
constexpr std::string_view dark_style = R"(
text,.n,.h{fill:#eee}
.m,.c{fill:#ddd}
.ground,.gap{fill:#16181c}
.grid,.gap{stroke:#888}
.nest,.end{stroke:#eee}
)";

class Writer {
 public:
  Writer(const Picture& picture, bool boxes)
      : picture_(without_corner_headers(picture)),
        boxes_(boxes),
        at_(geometry_of(picture_, boxes)) {}

  std::string document() {
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(at_.width) +
           "\" height=\"" + number(at_.height) + "\" viewBox=\"0 0 " + number(at_.width) + " " +
           number(at_.height) + "\" role=\"img\">\n";
    out_ += "<title>" + xml(picture_.title) + "</title>\n<style>" + std::string(style);
    fills(colour);
    // Paper stays white, whatever the screen is.
    out_ += "@media screen and (prefers-color-scheme:dark){" + std::string(dark_style);
    fills(dark_colour);
    out_ += "}\n</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n";
    if (!picture_.title.empty()) text("t", kMargin, at_.title_y, picture_.title);
    if (!picture_.subtitle.empty()) text("", kMargin, at_.subtitle_y, picture_.subtitle);
    for (size_t k = 0; k < picture_.panels.size(); ++k)
      if (boxes_ || !picture_.panels[k].on_pages_only) panel(picture_.panels[k], at_.frames[k]);
    double y = at_.key_y;
    for (const std::string& line : below()) {
      text("", kMargin, y, line);
      y += kLine;
    }
    return out_ + "</svg>\n";
  }

 private:
  // One class a colour, of those that the picture uses.
  void fills(Colour (*palette)(int)) {
    std::set<int> used;
    for (const Panel& p : picture_.panels)
      for (const Box& box : p.boxes)
        if (box.colour != kNoColour && (boxes_ || !p.on_pages_only))
          used.insert(box.colour % kColours);
    for (const int n : used)
      out_ += ".k" + std::to_string(n) + "{fill:" + hexadecimal(palette(n)) + "}\n";
  }

  std::vector<std::string> below() const {
    std::vector<std::string> lines = picture_.notes;
    if (!picture_.key.empty()) lines.insert(lines.begin(), "colour: " + picture_.key);
    return lines;
  }

  void text(std::string_view style_class, double x, double y, const std::string& words,
            double font = 0) {
    out_ += "<text";
    if (!style_class.empty()) out_ += " class=\"" + std::string(style_class) + "\"";
    out_ += " x=\"" + number(x) + "\" y=\"" + number(y) + "\"";
    if (font > 0) out_ += " style=\"font-size:" + number(font) + "px\"";
    out_ += ">" + xml(words) + "</text>\n";
  }

  void panel(const Panel& p, const Frame& f) {
    out_ += "<g>\n";
    if (!p.title.empty()) text("", f.x, f.y + kFont, p.title);
    headers(p, f);
    if (boxes_)
      single_boxes(p, f);
    else
      merged_boxes(p, f);
    nesting(p, f);
    double y = f.notes_y;
    for (const std::string& note : p.notes) {
      text("n", f.x, y, note);
      y += 15;
    }
    out_ += "</g>\n";
  }

  void headers(const Panel& p, const Frame& f) {
    const auto levels = static_cast<double>(p.top.levels.size());
    const bool captions = !p.left.levels.empty() && !p.left.levels.front().caption.empty();
    double y = f.grid_y - levels * f.level_height - (captions ? 14 : 2);
    for (const Level& level : p.top.levels) {
      if (!level.caption.empty()) text("c", f.grid_x - 5, y + 13, level.caption);
      for (const Band& band : level.bands) {
        const double width = (band.end - band.begin) * f.box_width;
        const double x = f.grid_x + band.begin * f.box_width;
        text("h", x + width / 2, y + 13, band.label, small(band.label, width));
        if (band.end - band.begin > 1)
          out_ += "<path class=\"span\" d=\"M" + number(x + 3) + " " + number(y + 17) + "h" +
                  number(width - 6) + "\"/>\n";
      }
      y += f.level_height;
    }
    for (size_t k = 0; k < p.left.levels.size(); ++k) {
      const Level& level = p.left.levels[k];
      const double right = f.side_x[k] + f.side_width[k] - 5;
      if (!level.caption.empty()) text("c", right, f.grid_y - 4, level.caption);
      for (const Band& band : level.bands)
        text("c", right, f.grid_y + (band.begin + band.end) * f.box_height / 2 + 4, band.label,
             kFont);
    }
  }

  static double small(const std::string& label, double width) {
    const double font = fitting_font(label, width - 2, kFont);
    return font < kFont ? font : 0;
  }

  struct Corner {
    double x, y;
  };
  static Corner corner(const Panel& p, const Frame& f, size_t k) {
    const auto columns = static_cast<size_t>(p.columns);
    return {f.grid_x + static_cast<double>(k % columns) * f.box_width,
            f.grid_y + static_cast<double>(k / columns) * f.box_height};
  }

  static std::string outline(const Corner& c, const Frame& f) {
    return "M" + number(c.x) + " " + number(c.y) + "h" + number(f.box_width) + "v" +
           number(f.box_height) + "h-" + number(f.box_width) + "z";
  }

  void labels(const Box& box, const Corner& c, const Frame& f) {
    const double middle = c.x + f.box_width / 2;
    const bool two = f.box_height > 28 && !box.mark.empty();
    if (!box.label.empty()) text("l", middle, c.y + (two ? 14 : f.box_height / 2 + 4), box.label);
    if (!box.mark.empty()) text("m", middle, c.y + 26, box.mark);
  }

  void merged_boxes(const Panel& p, const Frame& f) {
    std::map<int, std::string> fills;
    std::string gaps, ends, grid;
    for (size_t k = 0; k < p.boxes.size(); ++k) {
      const Box& box = p.boxes[k];
      if (box.kind == BoxKind::nothing) continue;
      const std::string path = outline(corner(p, f, k), f);
      if (box.kind == BoxKind::gap) {
        gaps += path;
        continue;
      }
      (box.kind == BoxKind::past_the_end ? ends : grid) += path;
      if (box.colour != kNoColour) fills[box.colour % kColours] += path;
    }
    for (const auto& [n, path] : fills)
      out_ += "<path class=\"k" + std::to_string(n) + "\" d=\"" + path + "\"/>\n";
    if (!gaps.empty()) out_ += "<path class=\"gap\" d=\"" + gaps + "\"/>\n";
    if (!grid.empty()) out_ += "<path class=\"grid\" d=\"" + grid + "\"/>\n";
    if (!ends.empty()) out_ += "<path class=\"end\" d=\"" + ends + "\"/>\n";
    for (size_t k = 0; k < p.boxes.size(); ++k) labels(p.boxes[k], corner(p, f, k), f);
  }

  void data(std::string_view name, const std::string& value) {
    if (!value.empty()) out_ += " data-" + std::string(name) + "=\"" + xml(value) + "\"";
  }

  // For a page: a group a box, that says what it is. A box without an offset says nothing.
  void single_boxes(const Panel& p, const Frame& f) {
    for (size_t k = 0; k < p.boxes.size(); ++k) {
      const Box& box = p.boxes[k];
      if (box.kind == BoxKind::nothing) continue;
      const Corner c = corner(p, f, k);
      out_ += "<g class=\"box\"";
      data("offset", box.offset);
      data("index", box.index);
      data("coordinate", box.coordinate);
      data("owner", box.owner);
      data("links", box.links);
      out_ += "><rect class=\"";
      out_ += box.kind == BoxKind::gap ? "gap" : box.kind == BoxKind::past_the_end ? "end" : "grid";
      if (box.colour != kNoColour) out_ += " k" + std::to_string(box.colour % kColours);
      out_ += "\" x=\"" + number(c.x) + "\" y=\"" + number(c.y) + "\" width=\"" +
              number(f.box_width) + "\" height=\"" + number(f.box_height) + "\"";
      out_ += "/>";
      labels(box, c, f);
      out_ += "</g>\n";
    }
  }

  // Lines where the nesting turns over, thicker where several levels do, and one around the grid.
  void nesting(const Panel& p, const Frame& f) {
    const double width = p.columns * f.box_width, height = p.rows * f.box_height;
    std::string once = "M" + number(f.grid_x) + " " + number(f.grid_y) + "h" + number(width) + "v" +
                       number(height) + "h-" + number(width) + "z";
    std::string more;
    for (size_t j = 1; j < p.top.weight.size(); ++j)
      if (const int weight = p.top.weight[j])
        (weight > 1 ? more : once) += "M" +
                                      number(f.grid_x + static_cast<double>(j) * f.box_width) +
                                      " " + number(f.grid_y) + "v" + number(height);
    for (size_t i = 1; i < p.left.weight.size(); ++i)
      if (const int weight = p.left.weight[i])
        (weight > 1 ? more : once) += "M" + number(f.grid_x) + " " +
                                      number(f.grid_y + static_cast<double>(i) * f.box_height) +
                                      "h" + number(width);
    out_ += "<path class=\"nest\" pointer-events=\"none\" d=\"" + once + "\"/>\n";
    if (!more.empty())
      out_ += "<path class=\"nest deep\" pointer-events=\"none\" d=\"" + more + "\"/>\n";
  }

  const Picture picture_;
  bool boxes_;
  Geometry at_;
  std::string out_;
};

}  // namespace

std::string svg_element(const Picture& picture, bool boxes) {
  return Writer(picture, boxes).document();
}

std::string to_svg(const Picture& picture) {
  return svg_element(picture, false);
}

}  // namespace lay::picture
