// Layouts in the words of other tools: the texts as they are, and the linear maps of Triton against the layouts.
#include "frontend/export/export.h"

#include <catch2/catch.hpp>
#include <random>

#include "frontend/algebra/operations.h"
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

std::string refused(const Exported& x, const std::string& target) {
  try {
    exported(x, target);
  } catch (const Refusal& refusal) {
    return refusal.code;
  }
  return "";
}

}  // namespace

TEST_CASE("a linear map has the layout's values; what is none is refused") {
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

TEST_CASE("what cannot be said is refused") {
  CHECK(refused({"L", layout(tuple(3, 2), tuple(1, 3))}, "triton") == "export");
  CHECK(refused({"L", layout(tuple(4, 2), tuple(1, 2))}, "triton") == "export");
  CHECK(refused({"L", layout(tuple(4, 2), tuple(-1, 4))}, "triton") == "export");
  CHECK(refused({"L", Composed{Swizzle(2, 0, 3), 3, layout(4, 1)}}, "triton") == "export");
  CHECK(refused({"L", layout(tuple(4, 2), tuple(1, 4)), {}, tuple(6, 2)}, "triton") == "export");
  CHECK(refused({"L", Composed{layout(4, 1), 0, layout(4, 1)}}, "numpy") == "export");
  CHECK(refused({"L", layout(4, 1)}, "fortran") == "export");
}

TEST_CASE("golden exports") {
  Facts facts;
  const Int m = facts.dim("M"), k = facts.dim("K");
  facts.assume(divides(m, 128));
  const Layout guarded = zipped_divide(facts, layout(tuple(m, k), tuple(k, 1)), Tiler::of(tuple(128, 64)));
  const std::vector<Exported> layouts = {
      {"row", layout(tuple(8, 64), tuple(64, 1))},
      {"nested", layout(tuple(tuple(2, 2), tuple(4, 11)), tuple(tuple(4, 1), tuple(8, 5'000'000'000)))},
      {"one", layout(tuple(4), tuple(2))},
      {"swizzled", composition(Swizzle(3, 3, 3), layout(tuple(8, 64), tuple(64, 1)))},
      {"swizzle", Swizzle(3, 4, 3)},
      {"shifted", Composed{Swizzle(2, 0, -3), 5, layout(tuple(4, 4), tuple(4, 1))}},
      {"identity", layout(tuple(4, tuple(3, 2)),
                          tuple(Tuple::basis(1, {0}), tuple(Tuple::basis(1, {1, 0}), Tuple::basis(2, {1, 1}))))},
      {"backwards", layout(tuple(4, 2), tuple(-1, 4))},
      {"tiles", guarded, {"M % 96 == 0"}},
      {"accumulator", layout(tuple(tuple(4, 8), tuple(2, 2)), tuple(tuple(32, 1), tuple(16, 8))), {}, tuple(16, 8)},
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
    lay::test::check_expected(lay::test::source_root() / "tests/export" / (target + ".expected"), text);
  }
}
