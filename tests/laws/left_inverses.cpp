// Left inverses by search, against every layout that there could be; equations in integers against
// plain counting.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "frontend/algebra/integers/integer_equations.h"
#include "frontend/algebra/integers/linear_forms.h"
#include "tests/laws/oracle.h"
#include "tests/laws/random_layouts.h"

using namespace lay;

namespace {

struct Outcome {
  std::string text;
  bool found = false;
};

Outcome invert(const Layout& a) {
  Facts facts;
  try {
    const Layout r = left_inverse(facts, a);
    INFO(a.to_string() << " gives " << r.to_string());
    REQUIRE(laws::left_inverts(a, r));
    return {r.to_string(), true};
  } catch (const Refusal& refusal) {
    return {refusal.message, false};
  }
}

bool is_decided(const Outcome& outcome) {
  return outcome.found || outcome.text.find("no layout undoes it") != std::string::npos;
}

// Found, or shown not to be there, which is so by every layout that there could be.
bool is_found(const Layout& a) {
  const Outcome outcome = invert(a);
  INFO(a.to_string() << ": " << outcome.text);
  REQUIRE(is_decided(outcome));
  if (!outcome.found) REQUIRE(!laws::can_left_invert(a));
  return outcome.found;
}

}  // namespace

TEST_CASE(
    "left inverse: every layout of rank 2, in both directions, gets an answer exactly where there "
    "is one") {
  int found = 0, none = 0;
  for (const Layout& a : laws::small_layouts(3, 10)) {
    for (const int turn : {1, -1}) {
      if (a.shape.is_leaf() && turn < 0) continue;
      const Layout b = turn > 0 ? a : Layout(a.shape, tuple(a.stride[0], -a.stride[1].value()));
      const Outcome outcome = invert(b);
      INFO(b.to_string() << ": " << outcome.text);
      REQUIRE(is_decided(outcome));
      REQUIRE(outcome.found == laws::can_left_invert(b));
      ++(outcome.found ? found : none);
    }
  }
  CHECK(found > 1500);
  CHECK(none > 100);
}

TEST_CASE("left inverse: random layouts of three modes") {
  laws::Random random{77};
  int none = 0;
  for (int round = 0; round < 400; ++round) {
    const Tuple shape = tuple(random.in(2, 4), random.in(2, 4), random.in(1, 3));
    const Layout a(shape, tuple(random.in(1, 12), random.in(1, 20), random.in(0, 30)));
    const Outcome outcome = invert(a);
    INFO(a.to_string() << ": " << outcome.text);
    REQUIRE(is_decided(outcome));
    if (!outcome.found) REQUIRE(!laws::can_left_invert(a));
    none += !outcome.found;
  }
  CHECK(none > 20);
}

TEST_CASE("left inverse: a million elements that no rule covers") {
  for (const Layout& a :
       {layout(tuple(1024, 1024), tuple(2, 2051)), layout(tuple(1024, 1024), tuple(3, 3100)),
        layout(tuple(512, 2048), tuple(3, 2)), layout(tuple(1000, 1000), tuple(1001, 1002)),
        layout(tuple(1024, 1024), tuple(1, -2048)), layout(tuple(1024, 1024), tuple(1, 512)),
        layout(tuple(16, 16), tuple(int64_t{1} << 40, int64_t{3} << 39))}) {
    const Outcome outcome = invert(a);
    INFO(outcome.text);
    CHECK(outcome.found);
  }
  for (const Layout& a :
       {layout(tuple(1000, 1000), tuple(7, 5)), layout(tuple(1024, 1024), tuple(-1, 1024))}) {
    const Outcome outcome = invert(a);
    INFO(a.to_string() << " gives " << outcome.text);
    CHECK_FALSE(outcome.found);
    CHECK(is_decided(outcome));
  }
}

TEST_CASE("left inverse: few values far apart, against every layout that there could be") {
  laws::Random random{78};
  int found = 0, none = 0;
  for (int round = 0; round < 120; ++round) {
    const auto stride = [&] {
      return random.once_in(3) ? 30 * random.in(1, 4) : random.in(1, 120);
    };
    const Layout a(tuple(random.in(2, 4), random.in(2, 3), random.in(1, 2)),
                   tuple(stride(), random.once_in(4) ? -stride() : stride(), stride()));
    ++(is_found(a) ? found : none);
  }
  CHECK(found > 60);
  CHECK(none > 5);
}

TEST_CASE("left inverse: strides to 10^5 and beyond are decided") {
  for (const Layout& a : {layout(tuple(5, 3, 4), tuple(-25000, -95000, 59866)),
                          layout(tuple(2, 2, 2), tuple(int64_t{1} << 50, int64_t{3} << 41, 99991)),
                          layout(tuple(2, 3, 3), tuple(999999000001, 777777000007, 31))}) {
    const Outcome outcome = invert(a);
    INFO(outcome.text);
    CHECK(outcome.found);
  }
}

TEST_CASE("left inverse: what values up to 2^20 leave to search is decided") {
  for (const Layout& a :
       {layout(tuple(5, 8), tuple(200634, 55)), layout(tuple(19, 15), tuple(10, 65536)),
        layout(tuple(30, 28), tuple(32768, 47)), layout(tuple(30, 13), tuple(13, 20752)),
        layout(tuple(2, 11, 9), tuple(887480, 37, 17932)),
        layout(tuple(6, 6, 3), tuple(29788, 606403, 36)),
        // Values with several indices.
        layout(tuple(10, 6, 12, 6), tuple(4, 36, 1, 258)),
        layout(tuple(9, 10, 10, 8), tuple(8, 1, 8, 2700)),
        layout(tuple(7, 7, 5, 11), tuple(110, 6165, 2, 1))}) {
    const Outcome outcome = invert(a);
    INFO(a.to_string() << ": " << outcome.text);
    CHECK(is_decided(outcome));
  }
}

TEST_CASE("left inverse: values with several indices, against every layout that there could be") {
  laws::Random random{79};
  int found = 0, none = 0;
  for (int round = 0; round < 150; ++round) {
    const int64_t shared = random.in(1, 12);
    const Layout a(tuple(random.in(2, 4), random.in(2, 3), random.in(2, 3)),
                   tuple(shared, random.once_in(2) ? shared : 2 * shared, random.in(1, 40)));
    ++(is_found(a) ? found : none);
  }
  CHECK(found > 60);
  CHECK(none > 3);
}

TEST_CASE(
    "left inverse: many values with several indices, against every layout that there could be") {
  laws::Random random{80};
  int found = 0, none = 0;
  for (int round = 0; round < 600; ++round) {
    const int64_t shared = random.in(1, 5);
    const auto stride = [&] {
      const int64_t own = random.once_in(2) ? shared * random.in(1, 3) : random.in(1, 16);
      return random.once_in(8) ? -own : own;
    };
    std::vector<Tuple> shape, strides;
    for (int64_t k = random.in(2, 4); k > 0; --k)
      shape.push_back(random.in(2, 4)), strides.push_back(stride());
    ++(is_found(Layout(Tuple(shape), Tuple(strides))) ? found : none);
  }
  CHECK(found > 250);
  CHECK(none > 100);
}

TEST_CASE("left inverse: sparse and large layouts of values with several indices are decided") {
  for (const Layout& a : {layout(tuple(5, 4, 2, 5), tuple(3, 323324, 9, 3)),
                          layout(tuple(94, 25, 379), tuple(1024, 1024, 1024))}) {
    const Outcome outcome = invert(a);
    INFO(a.to_string() << ": " << outcome.text);
    CHECK(outcome.found);
  }
  for (const Layout& a : {layout(tuple(8, 15, 14, 16, 9, 3), tuple(26, -26, 13, -52, 52, 39))}) {
    const Outcome outcome = invert(a);
    INFO(a.to_string() << ": " << outcome.text);
    CHECK_FALSE(outcome.found);
    CHECK(is_decided(outcome));
  }
}

TEST_CASE("left inverse: a search whose steps end leaves the layout open, and says so") {
  for (const Layout& a :
       {layout(tuple(78, 55), tuple(11039, 2978)),
        layout(tuple(6, 8, 3, 7, 2), tuple(23, 35951, 23, 23, 46)),
        layout(tuple(829, 877), tuple(1, 263)), layout(tuple(69, 3, 92, 33), tuple(3, 676, 1, 1)),
        layout(tuple(5, 4, 8), tuple(390159, 423641, 423641)),
        layout(tuple(319, 33, 37), tuple(1, 16384, 128)),
        layout(tuple(5, 5, 7, 8), tuple(7367, 103687, 1306, 1306))}) {
    const Outcome outcome = invert(a);
    INFO(a.to_string() << ": " << outcome.text);
    CHECK_FALSE(outcome.found);
    CHECK(outcome.text.find("; no layout that undoes it was found") != std::string::npos);
  }
}

TEST_CASE(
    "inverses, coalesce and composition where a mode covers more than 64 bits and no value does") {
  constexpr int64_t kHuge = int64_t{1} << 60, kMost = INT64_MAX;
  const Layout a(tuple(8, 2), tuple(kHuge, 1));
  Facts facts;
  CHECK(coalesce(facts, a) == a);
  CHECK(left_inverse(facts, a).to_string() == "(1152921504606846976,8):(8,1)");
  CHECK(right_inverse(facts, a).to_string() == "2:8");
  CHECK(composition(facts, a, Layout(8, 2)).to_string() == "(4,2):(2305843009213693952,1)");
  CHECK(max_alignment(facts, a) == 2);
  CHECK(complement(facts, a, 64).to_string() == "576460752303423488:2");
  CHECK(complement(facts, layout(tuple(8, 8, 2), tuple(kHuge, 100, 1)), 64).to_string() ==
        "(50,1441151880758558):(2,800)");
  CHECK(laws::left_inverts(Layout(2, -kMost), left_inverse(facts, Layout(2, -kMost))));
  CHECK(laws::left_inverts(Layout(tuple(2, 2), tuple(kMost - 5, 5)),
                           left_inverse(facts, Layout(tuple(2, 2), tuple(kMost - 5, 5)))));
}

TEST_CASE("left inverse: strides below 0 turn round") {
  CHECK(invert(layout(4, -1)).text == "4:-1");
  CHECK(invert(layout(tuple(4, 8), tuple(-9, -1))).text == "(9,4):(-4,-1)");
  Facts facts;
  const Int m = Int::dim("M");
  CHECK(left_inverse(facts, layout(tuple(4, m), tuple(-1, -4))).to_string() == "4*M:-1");
}

TEST_CASE("integer equations: solutions are solutions, and none are missed") {
  laws::Random random{9};
  constexpr int64_t kReach = 12;
  for (int round = 0; round < 2000; ++round) {
    IntegerEquations equations(2);
    std::vector<std::vector<int64_t>> rows;
    bool solvable = true;
    for (int64_t k = random.in(1, 3); k > 0 && solvable; --k) {
      rows.push_back({random.in(-4, 4), random.in(-4, 4), random.in(-6, 6)});
      solvable = equations.require(std::span(rows.back()).first(2), rows.back()[2]);
    }
    const auto holds = [&](int64_t x, int64_t y) {
      for (const auto& row : rows) {
        if (row[0] * x + row[1] * y != row[2]) return false;
      }
      return true;
    };
    bool exists = false;
    for (int64_t x = -kReach; x <= kReach; ++x) {
      for (int64_t y = -kReach; y <= kReach; ++y) exists |= holds(x, y);
    }
    if (exists) REQUIRE(solvable);
    if (!solvable) continue;
    const int64_t x = random.in(-4, 4), y = random.in(-4, 4), expected = random.in(-6, 6),
                  modulus = random.in(1, 6);
    bool has_one = false;
    for (int64_t i = -kReach; i <= kReach; ++i) {
      for (int64_t j = -kReach; j <= kReach; ++j)
        has_one |= holds(i, j) && (x * i + y * j - expected) % modulus == 0;
    }
    IntegerEquations up_to = equations;
    const int64_t factors[] = {x, y};
    const bool solves = up_to.require_modulo(factors, expected, modulus);
    if (has_one) REQUIRE(solves);
    if (solves) {
      // All of them, and no others.
      const auto is_one = [&](int64_t i, int64_t j) {
        return holds(i, j) && (x * i + y * j - expected) % modulus == 0;
      };
      const auto& one = up_to.particular();
      REQUIRE(is_one(one[0], one[1]));
      for (const auto& step : up_to.free()) REQUIRE(is_one(one[0] + step[0], one[1] + step[1]));
      REQUIRE(up_to.free().size() == equations.free().size());
    }
    const auto& at = equations.particular();
    REQUIRE(holds(at[0], at[1]));
    for (const auto& step : equations.free()) REQUIRE(holds(at[0] + step[0], at[1] + step[1]));
  }
}

TEST_CASE("linear forms: what equations leave of them is what the solutions give") {
  laws::Random random{11};
  int solved = 0, none = 0;
  for (int round = 0; round < 1000; ++round) {
    constexpr size_t kUnknowns = 3, kForms = 5;
    std::vector<std::vector<int64_t>> factors(kForms);
    std::vector<int64_t> constants;
    LinearForms forms(kUnknowns, kForms);
    IntegerEquations equations(kUnknowns);
    for (size_t i = 0; i < kForms; ++i) {
      for (size_t k = 0; k < kUnknowns; ++k) factors[i].push_back(random.in(-5, 5));
      constants.push_back(random.in(-5, 5));
      forms.set(i, constants[i], factors[i]);
    }
    bool holds = true;
    for (int64_t required = random.in(1, 3); required > 0 && holds; --required) {
      const auto i = static_cast<size_t>(random.in(0, 4)), j = static_cast<size_t>(random.in(0, 4));
      const int64_t value = random.in(-8, 8), modulus = random.in(1, 6);
      std::vector<int64_t> less = factors[i];
      for (size_t k = 0; k < kUnknowns; ++k) less[k] -= factors[j][k];
      const int64_t kind = i == j ? random.in(0, 1) : random.in(0, 2);
      bool expected = false;
      if (kind == 0)
        holds = forms.require(i, value),
        expected = equations.require(factors[i], value - constants[i]);
      if (kind == 1) {
        holds = forms.require_modulo(i, value, modulus);
        expected = equations.require_modulo(factors[i], value - constants[i], modulus);
      }
      if (kind == 2) {
        holds = forms.require_difference(i, j, value);
        expected = equations.require(less, value - constants[i] + constants[j]);
      }
      REQUIRE(holds == expected);
    }
    ++(holds ? solved : none);
    if (!holds) continue;
    REQUIRE(forms.free() == equations.free().size());
    for (size_t i = 0; i < kForms; ++i) {
      // Both leave the same numbers: one of them, up to what all have in common.
      const auto left = equations.left_of(factors[i]);
      int64_t common = 0;
      for (const int64_t step : left.steps) common = std::gcd(common, step);
      REQUIRE(forms.factor(i) == common);
      const int64_t apart = forms.value(i) - constants[i] - left.value;
      REQUIRE((common == 0 ? apart : apart % common) == 0);
      const auto sum = [&](const int64_t* x) {
        int64_t total = 0;
        for (size_t k = 0; k < kUnknowns; ++k) total += factors[i][k] * x[k];
        return total;
      };
      REQUIRE(forms.value(i) == constants[i] + sum(forms.particular()));
      for (size_t k = 0; k < forms.free(); ++k) REQUIRE(forms.step(k, i) == sum(forms.free(k)));
    }
  }
  CHECK(solved > 300);
  CHECK(none > 100);
}

TEST_CASE("integer equations: of large numbers the solutions are solutions, and not all long") {
  laws::Random random{10};
  constexpr size_t kUnknowns = 3;
  int longer = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> solution;
    for (size_t k = 0; k < kUnknowns; ++k) solution.push_back(random.in(-30, 30));
    IntegerEquations equations(kUnknowns);
    std::vector<std::vector<int64_t>> rows;
    const auto sum = [](const std::vector<int64_t>& factors, const std::vector<int64_t>& x) {
      int64_t total = 0;
      for (size_t k = 0; k < kUnknowns; ++k) total += factors[k] * x[k];
      return total;
    };
    for (int row = 0; row < 1; ++row) {
      rows.emplace_back();
      for (size_t k = 0; k < kUnknowns; ++k)
        rows.back().push_back(random.in(-1000000000, 1000000000));
      REQUIRE(equations.require(rows.back(), sum(rows.back(), solution)));
    }
    REQUIRE(equations.free().size() == kUnknowns - 1);
    for (const auto& row : rows) {
      REQUIRE(sum(row, equations.particular()) == sum(row, solution));
      for (const auto& vector : equations.free()) REQUIRE(sum(row, vector) == 0);
    }
    const auto& at = equations.particular();
    longer += std::any_of(at.begin(), at.end(),
                          [](int64_t x) { return std::abs(x) > (int64_t{1} << 26); });
    // The free vectors leave out none: their cross product is the row, less what its numbers have
    // in common.
    const auto &u = equations.free()[0], &v = equations.free()[1];
    const int64_t common = std::gcd(std::gcd(rows[0][0], rows[0][1]), rows[0][2]);
    const int64_t sign = (u[1] * v[2] - u[2] * v[1] > 0) == (rows[0][0] > 0) ? 1 : -1;
    for (size_t k = 0; k < kUnknowns; ++k) {
      const size_t l = (k + 1) % kUnknowns, m = (k + 2) % kUnknowns;
      REQUIRE((u[l] * v[m] - u[m] * v[l]) * common == sign * rows[0][k]);
    }
  }
  CHECK(longer == 0);
}
