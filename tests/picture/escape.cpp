// No text of a script becomes markup.
#include "frontend/picture/escape.h"

#include <catch2/catch.hpp>

#include "frontend/picture/draw.h"
#include "frontend/picture/render.h"
#include "tests/picture/drawn.h"

using namespace lay;
using namespace lay::picture;

namespace {

const std::string hostile =
    "</title></svg><script>alert(1)</script>\" onload='x' \\input{/etc/passwd} $x^2$ %_#&~ "
    "\x1b[31m";

Picture hostile_picture() {
  Picture p = draw_layout({hostile, layout(tuple(2, 2), tuple(1, 2))});
  p.subtitle = p.key = p.owner = hostile;
  p.notes = {hostile};
  Panel& panel = p.panels.front();
  panel.title = hostile;
  panel.notes = {hostile};
  panel.top.levels.front().caption = panel.top.levels.front().bands.front().label = hostile;
  Box& box = panel.boxes.front();
  box.label = box.mark = box.offset = box.index = box.coordinate = box.owner = hostile;
  return p;
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("names are escaped in SVG and HTML") {
  const std::string svg = to_svg(hostile_picture()), html = to_html(hostile_picture());
  CHECK(count(svg, "<script") == 0);
  CHECK(count(svg, "</svg>") == 1);
  CHECK(count(html, "<script") == 1);  // its own
  CHECK(count(html, "</script") == 1);
  CHECK(count(html, "\" onload") == 0);
  CHECK(count(svg + html, "\x1b") == 0);
}

TEST_CASE("names are escaped in TeX") {
  const std::string tex_text = to_tex(hostile_picture());
  CHECK(count(tex_text, "\\input") == 0);
  CHECK(count(tex_text, "\\textbackslash{}input") > 5);
  CHECK(count(tex_text, "$x") == count(tex_text, "\\$x"));
  CHECK(tex("\xe2\x88\x98 \xc3\xa9 < \"") == "$\\circ$ ? \\textless{} ''");
}

TEST_CASE("names are escaped on a terminal") {
  CHECK(count(to_text(hostile_picture(), {}), "\x1b") == 0);
  CHECK(count(to_text(hostile_picture(), {}), "\\x1b[31m") > 3);
}

TEST_CASE("a page asks nothing of any other place") {
  const std::string html = to_html(test::one_picture("show zipped_divide((4,4):(1,4), (2,2))"));
  CHECK(count(html, "http") == 1);
  CHECK(count(html, "http://www.w3.org/2000/svg") == 1);  // a name, not an address
  for (const char* word : {"src=", "href=", "url(", "@import", "fetch("})
    CHECK(count(html, word) == 0);
}
