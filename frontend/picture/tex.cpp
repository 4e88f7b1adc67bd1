// A picture as TikZ. One unit is a pixel of the geometry, drawn at three quarters of a point.
#include <cmath>

#include "frontend/picture/escape.h"
#include "frontend/picture/geometry.h"
#include "frontend/picture/palette.h"
#include "frontend/picture/render.h"

namespace lay::picture {
namespace {

std::string number(double value) {
  const auto tenths = static_cast<long>(std::lround(value * 10));
  const std::string whole = std::to_string(tenths / 10);
  return tenths % 10 ? whole + "." + std::to_string(tenths % 10) : whole;
}

std::string point(double x, double y) {
  return "(" + number(x) + "," + number(y) + ")";
}

class Writer {
 public:
  explicit Writer(const Picture& picture)
      : picture_(without_corner_headers(picture)), at_(geometry_of(picture_)) {}

  std::string document() {
    out_ = "\\documentclass[border=4pt]{standalone}\n\\usepackage{tikz}\n\\begin{document}\n";
    for (int n = 0; n < kColours; ++n) {
      const Colour c = colour(n);
      out_ += "\\definecolor{k" + std::to_string(n) + "}{RGB}{" + std::to_string(c.red) + "," +
              std::to_string(c.green) + "," + std::to_string(c.blue) + "}\n";
    }
    out_ +=
        "\\begin{tikzpicture}[x=0.75pt,y=-0.75pt,every node/.style={inner "
        "sep=0pt,font=\\ttfamily\\small},\n"
        "  small print/.style={font=\\ttfamily\\scriptsize},cell box/.style={draw=black!55,line "
        "width=0.4pt},empty box/.style={draw=black!35,dashed},\n"
        "  nesting/.style={line width=1pt},deep/.style={line "
        "width=2pt},span/.style={draw=black!40,line "
        "width=0.6pt},heading/.style={font=\\ttfamily\\bfseries}]\n";
    if (!picture_.title.empty())
      node("heading,anchor=base west", kMargin, at_.title_y, picture_.title);
    if (!picture_.subtitle.empty())
      node("anchor=base west", kMargin, at_.subtitle_y, picture_.subtitle);
    for (size_t k = 0; k < picture_.panels.size(); ++k)
      if (!picture_.panels[k].on_pages_only) panel(picture_.panels[k], at_.frames[k]);
    double y = at_.key_y;
    if (!picture_.key.empty()) {
      node("anchor=base west", kMargin, y, "colour: " + picture_.key);
      y += kLine;
    }
    for (const std::string& note : picture_.notes) {
      node("anchor=base west", kMargin, y, note);
      y += kLine;
    }
    return out_ + "\\end{tikzpicture}\n\\end{document}\n";
  }

 private:
  void node(const std::string& style, double x, double y, const std::string& words) {
    out_ += "\\node" + (style.empty() ? "" : "[" + style + "]") + " at " + point(x, y) + " {" +
            tex(words) + "};\n";
  }

  void panel(const Panel& p, const Frame& f) {
    if (!p.title.empty()) node("anchor=base west", f.x, f.y + kFont, p.title);
    headers(p, f);
    for (int i = 0; i < p.rows; ++i)
      for (int j = 0; j < p.columns; ++j) box(p.at(i, j), f, i, j);
    nesting(p, f);
    double y = f.notes_y;
    for (const std::string& note : p.notes) {
      node("small print,anchor=base west", f.x, y, note);
      y += 15;
    }
  }

  void headers(const Panel& p, const Frame& f) {
    const bool captions = !p.left.levels.empty() && !p.left.levels.front().caption.empty();
    double y =
        f.grid_y - static_cast<double>(p.top.levels.size()) * f.level_height - (captions ? 14 : 2);
    for (const Level& level : p.top.levels) {
      if (!level.caption.empty())
        node("small print,anchor=base east", f.grid_x - 5, y + 13, level.caption);
      for (const Band& band : level.bands) {
        node("anchor=base", f.grid_x + (band.begin + band.end) * f.box_width / 2, y + 13,
             band.label);
        if (band.end - band.begin > 1)
          out_ += "\\draw[span] " + point(f.grid_x + band.begin * f.box_width + 3, y + 17) +
                  " -- " + point(f.grid_x + band.end * f.box_width - 3, y + 17) + ";\n";
      }
      y += f.level_height;
    }
    for (size_t k = 0; k < p.left.levels.size(); ++k) {
      const double right = f.side_x[k] + f.side_width[k] - 5;
      if (!p.left.levels[k].caption.empty())
        node("small print,anchor=base east", right, f.grid_y - 4, p.left.levels[k].caption);
      for (const Band& band : p.left.levels[k].bands)
        node("anchor=east", right, f.grid_y + (band.begin + band.end) * f.box_height / 2,
             band.label);
    }
  }

  void box(const Box& b, const Frame& f, int row, int column) {
    if (b.kind == BoxKind::nothing) return;
    const double x = f.grid_x + column * f.box_width, y = f.grid_y + row * f.box_height;
    std::string style = b.kind == BoxKind::gap            ? "empty box"
                        : b.kind == BoxKind::past_the_end ? "cell box,dashed"
                                                          : "cell box";
    if (b.colour != kNoColour) style += ",fill=k" + std::to_string(b.colour % kColours);
    out_ += "\\path[" + style + "] " + point(x, y) + " rectangle " +
            point(x + f.box_width, y + f.box_height) + ";\n";
    const double middle = x + f.box_width / 2;
    const bool two = f.box_height > 28 && !b.mark.empty();
    if (!b.label.empty()) node("", middle, y + (two ? 10 : f.box_height / 2), b.label);
    if (!b.mark.empty()) node("small print", middle, y + 24, b.mark);
  }

  // Lines where the nesting turns over, thicker where several levels do, and one around the grid.
  void nesting(const Panel& p, const Frame& f) {
    const double right = f.grid_x + p.columns * f.box_width,
                 bottom = f.grid_y + p.rows * f.box_height;
    std::string once = "\\draw[nesting] " + point(f.grid_x, f.grid_y) + " rectangle " +
                       point(right, bottom),
                more;
    for (size_t j = 1; j < p.top.weight.size(); ++j) {
      const double x = f.grid_x + static_cast<double>(j) * f.box_width;
      if (const int weight = p.top.weight[j])
        (weight > 1 ? more : once) += " " + point(x, f.grid_y) + " -- " + point(x, bottom);
    }
    for (size_t i = 1; i < p.left.weight.size(); ++i) {
      const double y = f.grid_y + static_cast<double>(i) * f.box_height;
      if (const int weight = p.left.weight[i])
        (weight > 1 ? more : once) += " " + point(f.grid_x, y) + " -- " + point(right, y);
    }
    out_ += once + ";\n";
    if (!more.empty()) out_ += "\\draw[nesting,deep]" + more + ";\n";
  }

  const Picture picture_;
  Geometry at_;
  std::string out_;
};

}  // namespace

std::string to_tex(const Picture& picture) {
  return Writer(picture).document();
}

}  // namespace lay::picture
