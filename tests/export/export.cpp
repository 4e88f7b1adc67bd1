// Layouts in the words of other tools: the texts as they are, and the linear maps of Triton against
// the layouts.
#include "frontend/export/export.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <random>
#include <set>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/export/int_code.h"
#include "frontend/export/linear.h"
#include "tests/golden/golden.h"

using namespace lay;
using namespace lay::exports;

namespace {

Layout random_power_of_two(std::mt19937& random) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<Tuple> shape, stride;
  for (int m = 0; m < 2; ++m) {
    std::vector<Tuple> s, d;
    for (int k = 0; k <= pick(2); ++k) {
      s.emplace_back(1 << pick(3));
      d.emplace_back(1 << pick(8));
    }
    shape.push_back(s.size() == 1 ? s[0] : Tuple(s));
    stride.push_back(d.size() == 1 ? d[0] : Tuple(d));
  }
  return layout(Tuple(shape), Tuple(stride));
}

// The XOR of the bases of the bits of each mode's index.
std::int64_t by_bases(const LinearMap& map, const std::vector<std::int64_t>& indices) {
  std::int64_t value = 0;
  for (size_t m = 0; m < indices.size(); ++m)
    for (size_t bit = 0; bit < map.modes[m].size(); ++bit)
      if (indices[m] >> bit & 1) value ^= map.modes[m][bit][0];
  return value;
}

// The points of an argument of the exported text, "reg_bases=[[0, 1], [8, 0]]".
std::vector<Point> points_of(const std::string& text, const std::string& argument) {
  std::vector<Point> points;
  const size_t at = text.find(argument + "=[");
  REQUIRE(at != std::string::npos);
  int depth = 0;
  for (size_t k = at + argument.size() + 1; k < text.size(); ++k) {
    if (text[k] == '[' && ++depth == 2) points.emplace_back();
    if (text[k] == ']' && --depth == 0) break;
    if (std::isdigit(static_cast<unsigned char>(text[k])) &&
        !std::isdigit(static_cast<unsigned char>(text[k - 1])))
      points.back().push_back(std::stoll(text.substr(k)));
  }
  return points;
}

void add_steps(Point& place, const std::vector<Point>& bases, std::int64_t index) {
  for (size_t bit = 0; bit < bases.size(); ++bit)
    for (size_t k = 0; k < place.size(); ++k)
      if (index >> bit & 1) place[k] ^= bases[bit][k];
}

// The coordinate of an offset in a tile of powers of two; nothing outside of it.
std::optional<Point> place_of(std::int64_t offset, const Point& tile) {
  Point place;
  for (const std::int64_t extent : tile) {
    place.push_back(offset % extent);
    offset /= extent;
  }
  if (offset) return std::nullopt;
  return place;
}

// Returns true if Triton has the layout, one thread and value after the other: all in the tile, all
// of the tile, and every power of two of threads or values moves along one mode of it.
bool is_distributed(const AnyLayout& l, const Point& tile, std::int64_t threads,
                    std::int64_t values) {
  Facts facts;
  std::set<Point> reached;
  for (std::int64_t t = 0; t < threads; ++t)
    for (std::int64_t v = 0; v < values; ++v) {
      const auto place = place_of(evaluate(facts, l, tuple(t, v)).value().value(), tile);
      if (!place) return false;
      reached.insert(*place);
      const bool step = (t == 0 && !(v & (v - 1))) || (v == 0 && !(t & (t - 1)));
      if (step && std::count(place->begin(), place->end(), 0) + 1 <
                      static_cast<std::ptrdiff_t>(tile.size()))
        return false;
    }
  std::int64_t all = 1;
  for (const std::int64_t n : tile) all *= n;
  return static_cast<std::int64_t>(reached.size()) == all;
}

std::string refused(const Exported& x, const std::string& target) {
  try {
    exported(x, target);
  } catch (const Refusal& refusal) {
    return refusal.code;
  }
  return "";
}

}  // namespace

TEST_CASE("a linear map has the values of its layout, and what is none is refused") {
  std::mt19937 random(11);
  int linear = 0, not_linear = 0;
  for (int round = 0; round < 2000; ++round) {
    const Layout l = random_power_of_two(random);
    const bool swizzled = round % 3 == 0;
    const AnyLayout any = swizzled ? AnyLayout(composition(Swizzle(2, 1, 3), l)) : AnyLayout(l);
    Facts facts;
    std::optional<LinearMap> map;
    try {
      map = swizzled ? bases_of(std::get<Composed>(any)) : bases_of(l);
      ++linear;
    } catch (const Refusal&) {
      ++not_linear;
    }
    // Linear over bits: the value of every index is the XOR of the values of its bits.
    bool is_linear = true;
    const std::int64_t rows = size(l.shape[0]).value(), columns = size(l.shape[1]).value();
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        const std::int64_t value = evaluate(facts, any, tuple(i, j)).value().value();
        std::int64_t sum = 0;
        for (std::int64_t bit = 1; bit < rows; bit *= 2)
          if (i & bit) sum ^= evaluate(facts, any, tuple(bit, 0)).value().value();
        for (std::int64_t bit = 1; bit < columns; bit *= 2)
          if (j & bit) sum ^= evaluate(facts, any, tuple(0, bit)).value().value();
        is_linear = is_linear && sum == value;
        if (map) CHECK(by_bases(*map, {i, j}) == value);
      }
    INFO(to_string(any));
    CHECK(map.has_value() == is_linear);
  }
  CHECK(linear > 200);
  CHECK(not_linear > 200);
}

TEST_CASE(
    "a distributed layout has the places of its threads and values, and what leaves or misses a "
    "part of the tile is "
    "refused") {
  std::mt19937 random(5);
  int said = 0, not_said = 0;
  for (int round = 0; round < 3000; ++round) {
    const Point tile = round % 2 ? Point{4, 16} : Point{2, 4, 8};
    // The bits of the offset in random order, the first few of them steps of threads, sometimes one
    // of another size.
    std::vector<std::int64_t> steps = {1, 2, 4, 8, 16, 32};
    std::shuffle(steps.begin(), steps.end(), random);
    if (round % 3 == 0) steps[random() % 6] = std::vector<std::int64_t>{0, 64, 3, 1}[random() % 4];
    const size_t cut = random() % 7;
    std::vector<Tuple> shape, stride;
    for (const auto& [begin, end] : {std::pair<size_t, size_t>{0, cut}, {cut, 6}}) {
      std::vector<Tuple> s, d;
      for (size_t k = begin; k < end; ++k) s.emplace_back(2), d.emplace_back(steps[k]);
      if (s.empty()) s.emplace_back(1), d.emplace_back(0);
      shape.push_back(Tuple(s));
      stride.push_back(Tuple(d));
    }
    const Layout l = layout(Tuple(shape), Tuple(stride));
    AnyLayout any = l;
    Exported x{"L", l, {}, round % 2 ? tuple(4, 16) : tuple(2, 4, 8)};
    if (round % 5 == 0) {
      any = composition(Swizzle(1, 0, 1 + static_cast<int>(random() % 4)), l);
      x.value = std::get<Composed>(any);
    }
    INFO(to_string(any) << " in " << x.tile->to_string());
    const std::int64_t threads = std::int64_t{1} << cut, values = std::int64_t{64} >> cut;
    std::string text;
    try {
      text = to_triton(x);
    } catch (const Refusal& refusal) {
      CHECK(refusal.code == "export");
    }
    bool linear = true;
    try {
      std::visit([](const auto& v) { bases_of(v); }, x.value);
    } catch (const Refusal&) {
      linear = false;
    }
    const bool expected = linear && is_distributed(any, tile, threads, values);
    REQUIRE(!text.empty() == expected);
    ++(expected ? said : not_said);
    if (!expected) continue;
    const auto registers = points_of(text, "reg_bases"), lanes = points_of(text, "lane_bases"),
               warps = points_of(text, "warp_bases");
    REQUIRE(lanes.size() == 5);
    Facts facts;
    for (std::int64_t t = 0; t < std::max<std::int64_t>(threads, 32); ++t)
      for (std::int64_t v = 0; v < values; ++v) {
        Point place(tile.size(), 0);
        add_steps(place, registers, v);
        add_steps(place, lanes, t % 32);
        add_steps(place, warps, t / 32);
        REQUIRE(place ==
                place_of(evaluate(facts, any, tuple(t % threads, v)).value().value(), tile));
      }
  }
  CHECK(said > 1000);
  CHECK(not_said > 500);
}

TEST_CASE("sizes that are not known are expressions with the values that Lay gives") {
  Facts facts;
  const Int m = facts.dim("M"), k = facts.dim("class");
  CHECK(code_of(m * 128 + 1, Code::cpp) == "128 * M + 1");
  CHECK(code_of(divided(m, 128), Code::cpp) == "M / 128");
  CHECK(code_of(divided(m, 128), Code::python) == "M // 128");
  CHECK(code_of(ceil_div(m, 96), Code::cpp) == "((M + 95) / 96)");
  CHECK(code_of(floor_div(m - k, 4), Code::cpp) == "floor_div(M - class_, 4)");
  CHECK(code_of(min(m, k), Code::cpp) == "cute::min(M, class_)");
  CHECK(code_of(Int(-3) * m * m, Code::python) == "-3 * M * M");
}

TEST_CASE("a stride that may be negative begins where its view does") {
  Facts facts;
  const Int m = facts.dim("M"), n = facts.dim("N");
  const std::string text = to_numpy({"L", layout(tuple(m, 3), tuple(-2, m - n))});
  CHECK(text.find("x[2 * M - min(2 * M - 2 * N, 0) - 2:]") != std::string::npos);
  CHECK(to_numpy({"L", layout(tuple(m, n), tuple(n, 1))}).find("x[") == std::string::npos);
}

TEST_CASE("what cannot be said is refused") {
  CHECK(refused({"L", layout(tuple(3, 2), tuple(1, 3))}, "triton") == "export");
  CHECK(refused({"L", layout(tuple(4, 2), tuple(1, 2))}, "triton") == "export");
  CHECK(refused({"L", layout(tuple(4, 2), tuple(-1, 4))}, "triton") == "export");
  CHECK(refused({"L", Composed{Swizzle(2, 0, 3), 3, layout(4, 1)}}, "triton") == "export");
  CHECK(refused({"L", layout(tuple(4, 2), tuple(1, 4)), {}, tuple(6, 2)}, "triton") == "export");
  // Coordinates of rank 1 are no offsets in a tile of rank 2.
  const Tuple along = tuple(Tuple::basis(1, {0}), Tuple::basis(4, {0}));
  CHECK(refused({"L", layout(tuple(4, 2), along), {}, tuple(4, 2)}, "triton") == "export");
  CHECK(refused({"L", layout(tuple(4, 2), along), {}, Tuple(8)}, "triton").empty());
  CHECK(to_triton({"L", layout(tuple(4, 2), along)}).find("SharedLinearLayout") ==
        std::string::npos);
  CHECK(to_triton({"L", layout(1, 0)}).find("SharedLinearLayout") == std::string::npos);
  CHECK(refused({"L", Composed{layout(4, 1), 0, layout(4, 1)}}, "numpy") == "export");
  CHECK(refused({"L", layout(4, 1)}, "fortran") == "export");
}

TEST_CASE("golden exports") {
  Facts facts;
  const Int m = facts.dim("M"), k = facts.dim("K");
  facts.assume(divides(m, 128));
  const Layout guarded =
      zipped_divide(facts, layout(tuple(m, k), tuple(k, 1)), Tiler::of(tuple(128, 64)));
  const std::vector<Exported> layouts = {
      {"row", layout(tuple(8, 64), tuple(64, 1))},
      {"nested",
       layout(tuple(tuple(2, 2), tuple(4, 11)), tuple(tuple(4, 1), tuple(8, 5'000'000'000)))},
      {"one", layout(tuple(4), tuple(2))},
      {"swizzled", composition(Swizzle(3, 3, 3), layout(tuple(8, 64), tuple(64, 1)))},
      {"swizzle", Swizzle(3, 4, 3)},
      {"shifted", Composed{Swizzle(2, 0, -3), 5, layout(tuple(4, 4), tuple(4, 1))}},
      {"identity",
       layout(tuple(4, tuple(3, 2)), tuple(Tuple::basis(1, {0}), tuple(Tuple::basis(1, {1, 0}),
                                                                       Tuple::basis(2, {1, 1}))))},
      {"backwards", layout(tuple(4, 2), tuple(-1, 4))},
      {"tiles", guarded, {"M % 96 == 0"}},
      {"accumulator",
       layout(tuple(tuple(4, 8), tuple(2, 2)), tuple(tuple(32, 1), tuple(16, 8))),
       {},
       tuple(16, 8)},
  };
  for (const std::string target : {"cute", "cutedsl", "triton", "numpy"}) {
    std::string text;
    for (const Exported& x : layouts) {
      try {
        text += exported(x, target) + "\n";
      } catch (const Refusal& refusal) {
        text += x.name + ": " + refusal.message + "\n\n";
      }
    }
    lay::test::check_expected(lay::test::source_root() / "tests/export" / (target + ".expected"),
                              text);
  }
}
