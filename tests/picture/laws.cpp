// The claims of a picture are true: every box against the algebra.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/picture/draw.h"
#include "frontend/picture/geometry.h"
#include "frontend/picture/palette.h"
#include "frontend/picture/render.h"
#include "tests/picture/drawn.h"

using namespace lay;
using namespace lay::picture;
using lay::test::Drawn;
using lay::test::drawn;
using lay::test::one_picture;

namespace {

// The digits above and beside a box give its coordinate: the headers count as the mode does.
int position(const Axis& axis, int at) {
  int position = 0, step = 1;
  for (auto level = axis.levels.rbegin(); level != axis.levels.rend(); ++level) {
    for (const Band& band : level->bands)
      if (band.begin <= at && at < band.end) position += step * std::stoi(band.label);
    step *= std::stoi(level->caption);
  }
  return position;
}

// The distance of two colours in OKLab, of which a just noticeable difference is about 0.02.
double distance(Colour a, Colour b) {
  const auto lab = [](Colour colour) {
    const auto linear = [](uint8_t component) {
      const double c = component / 255.0;
      return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    const double red = linear(colour.red), green = linear(colour.green), blue = linear(colour.blue);
    const double l = std::cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue),
                 m = std::cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue),
                 s = std::cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
    return std::array{0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
                      1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
                      0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
  };
  const auto x = lab(a), y = lab(b);
  return std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

// The boxes of the result, of all its slices.
std::vector<Box> boxes_of_result(const Picture& picture) {
  std::vector<Box> boxes;
  for (const Panel& panel : picture.panels)
    if (panel.title.rfind("result", 0) == 0)
      boxes.insert(boxes.end(), panel.boxes.begin(), panel.boxes.end());
  return boxes;
}

// The last panel that is no help of a page.
const Panel& last(const Picture& picture) {
  const auto drawn_everywhere = [](const Panel& panel) { return !panel.on_pages_only; };
  return *std::find_if(picture.panels.rbegin(), picture.panels.rend(), drawn_everywhere);
}

}  // namespace

TEST_CASE("every box holds the value of its coordinate") {
  for (const Layout& l :
       {layout(tuple(4, 3), tuple(3, 1)),
        layout(tuple(tuple(2, 3), tuple(2, 2)), tuple(tuple(1, 8), tuple(4, 100))),
        layout(tuple(3, tuple(2, 2), 2), tuple(-1, tuple(0, 5), 7)),
        layout(tuple(tuple(2, 3)), tuple(tuple(3, 1))), layout(tuple(5), tuple(2)), layout(5, 2),
        layout(tuple(2, 2), tuple(Tuple::basis(1, {0}), Tuple::basis(2, {1})))}) {
    const Picture p = draw_layout({"l", l}, {{}, Line::never, std::nullopt});
    std::int64_t boxes = 0;
    Facts facts;
    for (const Panel& panel : p.panels)
      for (const Box& box : panel.boxes) {
        const Int index = std::stoll(box.index);
        CHECK(box.offset == evaluate(facts, l, Tuple(index)).to_string());
        CHECK(box.coordinate == idx2crd(facts, index, l.shape).to_string());
        ++boxes;
      }
    CHECK(boxes == size(l).value());
  }
}

TEST_CASE("headers count positions, and lines stand where a digit turns over") {
  const Layout l = layout(tuple(tuple(2, tuple(3, 2)), tuple(4, 2)),
                          tuple(tuple(1, tuple(2, 6)), tuple(12, 48)));
  const Panel panel = draw_layout({"l", l}).panels.front();
  REQUIRE(panel.rows == 12);
  for (int i = 0; i < panel.rows; ++i) {
    CHECK(position(panel.left, i) == i);
    CHECK(panel.left.weight[i] == (i == 0 ? 0 : (i % 2 == 0) + (i % 6 == 0)));
  }
  for (int j = 0; j < panel.columns; ++j) CHECK(position(panel.top, j) == j);
}

TEST_CASE("an address line says who reaches an offset, and who does not") {
  const Picture p = draw_line({"l", layout(tuple(2, 3, 2), tuple(1, 4, 4))});
  REQUIRE(p.panels.size() == 1);
  const Panel& line = p.panels.front();
  std::map<std::int64_t, int> reached;
  for (const std::int64_t v : values(layout(tuple(2, 3, 2), tuple(1, 4, 4)))) ++reached[v];
  for (std::int64_t offset = 0; offset <= 13; ++offset) {
    const Box& box = line.boxes[static_cast<size_t>(offset)];
    CHECK(box.offset == std::to_string(offset));
    CHECK((box.kind == BoxKind::gap) == (reached[offset] == 0));
    CHECK((box.kind == BoxKind::alias) == (reached[offset] > 1));
  }
}

TEST_CASE("a line that is too wide for the terminal goes on below, and keeps every box") {
  const Picture line = draw_line({"l", layout(tuple(4, 30), tuple(1, 5))});
  const Picture row = draw_layout({"l", layout(50, 7)}, {{}, Line::never, std::nullopt});
  for (const int columns : {12, 40, 80}) {
    const auto numbers = [&](const Picture& p, const std::string& first, const std::string& end) {
      const std::string text = to_text(p, {Colours::none, columns, true});
      CHECK(text.find("do not fit") == text.npos);
      std::vector<std::string> found;
      std::istringstream lines(text.substr(text.find(first) + 1));
      for (std::string shown; std::getline(lines, shown) && shown != end;) {
        std::istringstream words(shown);
        std::string word;
        words >> word;  // what the row counts from
        while (words >> word) found.push_back(word);
      }
      return found;
    };
    std::vector<std::string> expected, multiples;
    for (const Box& box : line.panels.front().boxes)
      if (box.kind != BoxKind::nothing)
        expected.push_back(box.kind == BoxKind::gap ? "." : box.label);
    for (int i = 0; i < 50; ++i) multiples.push_back(std::to_string(7 * i));
    INFO(columns);
    CHECK(numbers(line, "\n  0 ",
                  "each offset holds the index of the coordinate that reaches it; 29 gaps") ==
          expected);
    CHECK(numbers(row, "\n 0 ", "") == multiples);
  }
  // A picture that fits stands as it is.
  CHECK(to_text(row, {Colours::none, 400, true}) == to_text(row, {}));
}

TEST_CASE("rows of gaps are counted, and offsets may lie further apart than one can be") {
  const std::string far = to_text(draw_layout({"l", layout(tuple(8, 2), tuple(1, 200))}), {});
  CHECK(far.find("...  5 rows of gaps") != far.npos);
  const std::int64_t most = 9'000'000'000'000'000'000;
  for (const Layout& l :
       {layout(tuple(2, 2), tuple(most, -most)), layout(tuple(2, 2), tuple(-most, most))})
    for (const Picture& p : {draw_layout({"l", l}), draw_line({"l", l})}) {
      const std::string text = to_text(p, {});
      CHECK(text.find("drawn: offsets up to " + std::to_string(-most + 511) + " of " +
                      std::to_string(most)) != text.npos);
    }
}

TEST_CASE("operand and result have one tile in one colour") {
  for (const char* operation :
       {"zipped_divide(A, (2,4))", "logical_divide(A, (2,4))", "tiled_divide(A, (2,4))",
        "flat_divide(A, (2,4))", "logical_divide(A, (3,2))", "flat_divide(A, (2,2):(1,12))",
        "flat_divide(A, 4)", "tiled_divide(A, (2,2):(1,12))", "zipped_divide(A, (3:2,2:4))",
        "A o (3,4):(2,12)", "local_tile(A, (3,4), (0,0))", "select(A, 1, 0)", "group(A, 0, 2)"}) {
    INFO(operation);
    const Picture p = one_picture("let A = (6,8):(1,6)\nshow " + std::string(operation));
    std::map<std::string, std::pair<int, std::string>> operand;
    for (const Box& box : p.panels.front().boxes) operand[box.offset] = {box.colour, box.mark};
    int met = 0;
    const Panel& result = last(p);
    for (const Box& box : result.boxes) {
      CHECK(operand.at(box.offset) == std::pair(box.colour, box.mark));
      CHECK(box.colour != kNoColour);
      ++met;
    }
    CHECK(met == static_cast<int>(result.boxes.size()));
  }
}

TEST_CASE("a part is marked where it lies, though its own offsets count from its beginning") {
  for (const auto& [operation, begin] :
       std::map<std::string, std::int64_t>{{"local_tile(A, (3,4), (1,1))", 27},
                                           {"local_tile(A, (2,2), (2,1))", 16},
                                           {"local_partition(A, (2,4):(4,1), 6)", 13},
                                           {"A(_, 3)", 18},
                                           {"slice((2,_), A)", 2}}) {
    INFO(operation);
    const Picture p = one_picture("let A = (6,8):(1,6)\nshow " + operation);
    std::map<std::string, std::int64_t> marked;
    for (const Box& box : p.panels.front().boxes)
      if (!box.mark.empty()) marked[box.mark] = std::stoll(box.offset);
    const Panel& result = last(p);
    CHECK(marked.size() == result.boxes.size());
    for (const Box& box : result.boxes)
      CHECK(marked.at(box.mark) == std::stoll(box.offset) + begin);
    REQUIRE(p.notes.size() == 1);
    CHECK(p.notes.front().find(" begins at " + std::to_string(begin) + ",") != std::string::npos);
  }
}

TEST_CASE("a copy is the operand moved") {
  for (const char* operation :
       {"logical_product(A, (3,2):(2,1))", "zipped_product(A, 6)", "tiled_product(A, 6)",
        "flat_product(A, (3,2):(1,3))", "flat_product(A, 6)", "blocked_product(A, (3,2):(2,1))",
        "raked_product(A, (3,2):(2,1))", "tile_to_shape(A, (6,4))",
        "tile_to_shape(A, (4,6), (1,0))", "logical_product((2,2):(1,6), (3,2):(1,3))"}) {
    INFO(operation);
    const Picture p = one_picture("let A = (2,2):(1,2)\nshow " + std::string(operation));
    std::vector<std::int64_t> moved;
    for (const Box& box : p.panels.front().boxes) moved.push_back(std::stoll(box.offset));
    std::sort(moved.begin(), moved.end());
    std::map<std::string, std::vector<std::int64_t>> copies;
    for (const Panel& panel : p.panels)
      if (panel.title.rfind("result", 0) == 0)
        for (const Box& box : panel.boxes) copies[box.owner].push_back(std::stoll(box.offset));
    CHECK(copies.size() == 6);
    for (auto& [copy, offsets] : copies) {
      std::sort(offsets.begin(), offsets.end());
      const std::int64_t first = offsets.front();
      for (std::int64_t& offset : offsets) offset -= first;
      CHECK(offsets == moved);
    }
  }
}

TEST_CASE("links of a composition follow R(c) = A(B(c))") {
  for (const char* shown :
       {"(6,4):(1,7) o (3,4):(2,6)", "composition((8,8):(8,1), ((2,4),4):((1,2),8))",
        "(20,):(2,) o (5,):(3,)"}) {
    INFO(shown);
    const Picture p = one_picture("show " + std::string(shown));
    REQUIRE(p.panels.size() >= 3);
    std::map<std::string, std::string> value_of_a;
    for (const Box& box : p.panels[0].boxes) {
      CHECK(box.links == "e" + box.index);
      value_of_a[box.links] = box.offset;
    }
    std::map<std::string, std::string> link_of;
    for (const Box& box : p.panels[1].boxes) {
      CHECK(box.links == "e" + box.offset);
      link_of[box.index] = box.links;
    }
    for (const Box& box : p.panels[2].boxes) {
      CHECK(box.links == link_of.at(box.index));
      CHECK(box.offset == value_of_a.at(box.links));
    }
  }
}

TEST_CASE("links of a product name the element and the copy") {
  for (const char* operation : {"logical_product(A, (3,2):(2,1))", "zipped_product(A, 6:1)",
                                "tiled_product(A, (3,2):(1,3))", "flat_product(A, (3,2):(1,3))",
                                "blocked_product(A, (3,2):(2,1))", "raked_product(A, (3,2):(2,1))",
                                "tile_to_shape(A, (6,8))"}) {
    INFO(operation);
    const Picture p = one_picture("let A = (2,4):(4,1)\nshow " + std::string(operation));
    std::map<std::string, std::int64_t> value_of, begin;
    for (const Box& box : p.panels.front().boxes) value_of[box.links] = std::stoll(box.offset);
    const std::vector<Box> boxes = boxes_of_result(p);
    const auto words = [](const Box& box) {
      const auto blank = box.links.find(' ');
      return std::pair(box.links.substr(0, blank), box.links.substr(blank + 1));
    };
    for (const Box& box : boxes)
      if (words(box).first == "e0") begin[words(box).second] = std::stoll(box.offset);
    CHECK(begin.size() == 6);
    std::set<std::string> all;
    for (const Box& box : boxes) {
      const auto [element, copy] = words(box);
      CHECK(std::stoll(box.offset) - begin.at(copy) == value_of.at(element) - value_of.at("e0"));
      all.insert(box.links);
    }
    CHECK(all.size() == boxes.size());
  }
}

TEST_CASE("links of a divide name the operand's element, not its offset") {
  for (const char* operation :
       {"zipped_divide(A, (2,4))", "logical_divide(A, (3,2))", "flat_divide(A, (3,4))"}) {
    INFO(operation);
    const Picture p = one_picture("let A = (6,8):(0,1)\nshow " + std::string(operation));
    std::set<std::string> operand, result;
    for (const Box& box : p.panels.front().boxes) operand.insert(box.links);
    for (const Box& box : boxes_of_result(p)) result.insert(box.links);
    CHECK(operand.size() == 48);  // though there are 8 offsets
    CHECK(operand == result);
  }
}

TEST_CASE("a tile is the elements of the operand that lie together") {
  const Picture p = one_picture("show zipped_divide((6,8):(8,1), (2,4))");
  const Panel& operand = p.panels.front();
  for (int i = 0; i < operand.rows; ++i)
    for (int j = 0; j < operand.columns; ++j)
      CHECK(operand.at(i, j).owner == std::to_string(i / 2 + 3 * (j / 4)));
}

TEST_CASE("what a divide adds at the end is marked, though its values meet others") {
  const Picture p = one_picture("show zipped_divide((7,10):(10,1), (2,4))");
  int past = 0;
  for (const Box& box : last(p).boxes) past += box.kind == BoxKind::past_the_end;
  CHECK(past == 8 * 12 - 70);
  for (const Box& box : p.panels.front().boxes) CHECK(box.kind == BoxKind::cell);
}

TEST_CASE("every element of a tile stands with the thread that holds it") {
  const Layout tv = layout(tuple(tuple(4, 8), tuple(2, 2)), tuple(tuple(32, 1), tuple(16, 8)));
  const Picture p = draw_threads({"C", tv}, tuple(16, 8));
  const Panel& panel = p.panels.front();
  Facts facts;
  int met = 0;
  for (int t = 0; t < 32; ++t)
    for (int v = 0; v < 4; ++v) {
      const std::int64_t at = evaluate(facts, tv, tuple(t, v)).value().value();
      const Box& box = panel.at(static_cast<int>(at % 16), static_cast<int>(at / 16));
      CHECK(box.label == "T" + std::to_string(t));
      CHECK(box.mark == "V" + std::to_string(v));
      CHECK(box.colour == t % kColours);
      ++met;
    }
  CHECK(met == static_cast<int>(panel.boxes.size()));
}

TEST_CASE("a multiply-add is drawn as CuTe draws it: B above, A on the left, C in the corner") {
  const Picture p = one_picture("use atoms.sm80\nshow mma(16, 16, f16, f32)");
  REQUIRE(p.panels.size() == 6);  // and three tables for pages
  const Panel &b = p.panels[0], &a = p.panels[1], &c = p.panels[2];
  CHECK(b.stand == Stand::above);
  CHECK(a.stand == Stand::left);
  CHECK(c.stand == Stand::corner);
  CHECK(std::array{b.rows, b.columns, a.rows, a.columns, c.rows, c.columns} ==
        std::array{16, 8, 16, 16, 16, 8});
  // PTX's fragments of mma.m16n8k16: lane 4 g + t holds row g of A and C and column g of B.
  CHECK(b.at(3, 5).label + b.at(3, 5).mark == "T21V1");
  CHECK(a.at(5, 3).label + a.at(5, 3).mark == "T21V1");
  CHECK(c.at(13, 3).label + c.at(13, 3).mark == "T21V3");
  CHECK(b.at(3, 5).links == "n5 k3");
  CHECK(a.at(5, 3).links == "m5 k3");
  CHECK(c.at(13, 3).links == "m13 n3");
}

TEST_CASE("paper puts the rows of C beside those of A, and its columns below those of B") {
  for (const char* shown :
       {"mma(16, 16, f16, f32)", "tiled_mma(mma(16, 8, f16, f32), (2,2,1), (32,32,8))"}) {
    const Picture p =
        without_corner_headers(one_picture("use atoms.sm80\nshow " + std::string(shown)));
    const Geometry at = geometry_of(p);
    const Frame &b = at.frames[0], &a = at.frames[1], &c = at.frames[2];
    CHECK(c.grid_x == b.grid_x);
    CHECK(c.grid_y == a.grid_y);
    CHECK(c.grid_x > a.grid_x + a.box_width * p.panels[1].columns);
    CHECK(c.grid_y > b.grid_y + b.box_height * p.panels[0].rows);
    CHECK((a.box_width == c.box_width && b.box_width == c.box_width));
    CHECK((a.box_height == c.box_height && b.box_height == c.box_height));
  }
}

TEST_CASE("what is held more than once is counted in the whole tile, also where a part is drawn") {
  const Layout tv = layout(tuple(64, 64), tuple(0, 1));  // 64 threads that all hold 64 elements
  for (const int side : {4, 64}) {
    DrawOptions options;
    options.limits.cells = side * side;
    options.limits.side = options.limits.longest = side;
    const Picture p = draw_threads({"l", tv}, tuple(16, 8), options);
    std::string notes;
    for (const std::string& note : p.panels.front().notes) notes += note + "; ";
    CHECK(notes.find("64 elements are held by no thread; ") != notes.npos);
    CHECK(notes.find("64 elements are held more than once") != notes.npos);
  }
}

TEST_CASE("TeX draws a tiled multiply-add of 32 x 32 x 16 whole") {
  const Drawn d =
      drawn("use atoms.sm80\nshow tiled_mma(mma(16, 16, f16, f32), (2,2,1), (32,32,16))", true);
  REQUIRE(d.pictures.size() == 1);
  for (int k = 0; k < 3; ++k) {
    CHECK(d.pictures[0].panels[k].rows == (k == 0 ? 16 : 32));
    for (const std::string& note : d.pictures[0].panels[k].notes)
      CHECK(note.find("drawn:") == std::string::npos);
  }
}

TEST_CASE("banks are those of 32 words of 4 bytes") {
  for (const int bits : {8, 16, 32, 64, 128}) {
    const Picture p =
        draw_banks({"l", layout(tuple(8, 64), tuple(64, 1))}, {{}, Line::never, bits});
    for (const Box& box : p.panels.front().boxes)
      CHECK(box.mark == "b" + std::to_string(std::stoll(box.offset) * bits / 8 / 4 % 32));
  }
  CHECK(drawn("show (4,4):(4,1), view = banks, bits = 12").errors == "view");
}

TEST_CASE("colours carry black text, and hues are apart") {
  std::set<std::tuple<int, int, int>> seen;
  for (int n = 0; n < kColours; ++n) {
    const Colour c = colour(n);
    CHECK(contrast_with_black(c) > 4.5);
    seen.insert({c.red, c.green, c.blue});
  }
  CHECK(seen.size() == kColours);
  for (int n = 0; n < kColours; ++n) {
    CHECK(contrast(dark_colour(n), {0xee, 0xee, 0xee}) > 4.5);
    for (int m = 0; m < n; ++m) CHECK(distance(colour(m), colour(n)) > 0.07);
  }
  std::set<int> banks;
  for (int bank = 0; bank < 32; ++bank) banks.insert(bank_colour(bank));
  CHECK(banks.size() == 32);
}

TEST_CASE("the largest layouts draw a corner and say so") {
  for (const char* shape : {"(1000000000,1000000000):(1,1000000000)", "1000000000000000000:1",
                            "(2,1000000000000000000):(0,1)", "(4,4,1000000000000000):(1,4,16)",
                            "((1000000,1000000),(1000,1000)):((1,1000),(7,9))",
                            "Sw<3,4,3> o 0 o (1000000000,1000000):(1,1000000)"}) {
    INFO(shape);
    const Picture p = one_picture("show " + std::string(shape));
    size_t boxes = 0;
    bool said = false;
    for (const Panel& panel : p.panels) {
      boxes += panel.boxes.size();
      for (const std::string& note : panel.notes) said = said || note.find("drawn: the first") == 0;
    }
    CHECK(boxes <= 2 * 16384 + 1024);
    CHECK(said);
    CHECK(to_html(p).size() < 16'000'000);
  }
}

TEST_CASE("many large pictures are drawn smaller, and each says so") {
  for (const char* text : {"[(1000,1000):(1,1000) for i in 0..8]", "[1000000:1 for i in 0..64]",
                           "[Sw<3,3,3> o 0 o (512,512):(512,1) for i in 0..64]",
                           "blocked_product((128,128):(1,128), (128,128):(1,128))",
                           "(1024,1024):(1024,1) o (512,512):(1,1024)"}) {
    INFO(text);
    const auto pictures = drawn("show " + std::string(text)).pictures;
    size_t boxes = 0;
    for (const Picture& p : pictures) {
      bool said = false;
      for (const Panel& panel : p.panels) {
        boxes += panel.boxes.size();
        for (const std::string& note : panel.notes)
          said = said || note.find("drawn: the first") == 0;
      }
      CHECK(said);
    }
    CHECK(boxes <= 2 * (16384 + 1024));
  }
  CHECK(drawn("show [[1:0 for i in 0..9] for j in 0..9]").errors == "view");
}

TEST_CASE("a large picture says how all of it is drawn, and then is") {
  for (const std::string text : {"(200,300):(1,200)", "Sw<3,3,3> o 0 o (512,40):(40,1)",
                                 "(8,8,100):(1,8,64)", "(3,5000):(1,3)"}) {
    INFO(text);
    const auto notes = [](const std::vector<Picture>& pictures) {
      std::string all;
      for (const Picture& picture : pictures)
        for (const Panel& panel : picture.panels)
          for (const std::string& note : panel.notes) all += note + "\n";
      return all;
    };
    const auto corner = drawn("show " + text), whole = drawn("show " + text + ", all = true");
    CHECK(corner.errors == "");
    CHECK(whole.errors == "");
    CHECK(notes(corner.pictures).find("; all = true draws more") != std::string::npos);
    CHECK(notes(whole.pictures).find("drawn: ") == std::string::npos);
    size_t boxes = 0;
    for (const Panel& panel : whole.pictures.at(0).panels) boxes += panel.boxes.size();
    CHECK(boxes >= 6400);
    CHECK(drawn("show " + text + ", all = false").pictures.size() == corner.pictures.size());
  }
  CHECK(drawn("show 4:1, all = 3").errors == "operand-kind");
  // Beyond what a browser draws even this is a corner, which says so and offers no more.
  const auto far = drawn("show (1000000,1000000):(1,1000000), all = true");
  CHECK(far.pictures.at(0).panels.at(0).notes.back() ==
        "drawn: the first 1024 x 1024 of 1000000 x 1000000");
}

TEST_CASE("any layout is drawn in every form, or refused") {
  std::mt19937 random(5);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const std::vector<std::int64_t> extents = {1, 2, 3, 4, 6, 8, 1'000'000'000},
                                  strides = {0, 1, 2, 3, 5, 8, -1, 64, 1'000'000'000};
  std::function<std::pair<Tuple, Tuple>(int)> mode = [&](int depth) -> std::pair<Tuple, Tuple> {
    if (depth == 0 || pick(2) == 0) return {extents[pick(7)], strides[pick(9)]};
    std::vector<Tuple> s, d;
    for (int k = 0; k <= pick(3); ++k) {
      auto [extent, stride] = mode(depth - 1);
      s.push_back(extent);
      d.push_back(stride);
    }
    return {Tuple(s), Tuple(d)};
  };
  int drawn_ones = 0;
  for (int round = 0; round < 300; ++round) {
    const auto [s, d] = mode(3);
    try {
      const Layout l(s, d);
      const Named value{"l",
                        pick(4) == 0 ? AnyLayout(composition(Swizzle(2, 1, 3), l)) : AnyLayout(l)};
      const Picture p = pick(3) == 0   ? draw_line(value)
                        : pick(3) == 0 ? draw_threads(value, tuple(8, 4))
                                       : draw_layout(value);
      CHECK(!to_text(p, {}).empty());
      CHECK(to_svg(p).size() + to_html(p).size() + to_tex(p).size() < 40'000'000);
      ++drawn_ones;
    } catch (const Refusal& refusal) {
      CHECK(!refusal.message.empty());
    }
  }
  CHECK(drawn_ones > 150);
}

TEST_CASE("what cannot be drawn is said") {
  CHECK(drawn("show 5").errors == "operand-kind");
  CHECK(drawn("dim M\nshow M:1").errors == "symbolic");
  CHECK(drawn("dim M\nassume M % 4 == 0\nshow M:1, M = 6").errors == "contradiction");
  CHECK(drawn("dim M\nlet d = divide_exactly(M:1, 4)\nshow d, M = 6").errors == "guard");
  CHECK(drawn("show (4,2):(1,4), tile = (2,2,2)").errors == "view");
  CHECK(drawn("show (4,2):(1,4), view = lines").errors == "view");
  CHECK(drawn("show (4,2):(1,4), colour = 3").errors == "argument-name");
  CHECK(drawn("show (2,2):(1@0,1@1), view = line").errors == "view");
  CHECK(drawn("show 4:2 o Sw<1,0,1>").errors.empty());
  CHECK(drawn("show Sw<3,4,3> o 0 o (4,4):(-4,1)").errors == "swizzle-negative");
}
