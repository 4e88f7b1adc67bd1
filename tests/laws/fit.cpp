// fit: what it finds gives the table, and is the smallest; what it refuses, no layout gives, nor
// its prefix.

#include "frontend/algebra/memory/fit.h"

#include <catch2/catch.hpp>

#include "frontend/algebra/layouts/operations.h"
#include "tests/laws/random_layouts.h"

using namespace lay;
using laws::Random;

namespace {

OffsetTable table_of(const AnyLayout& a, int rank) {
  const Tuple& shape = std::holds_alternative<Layout>(a) ? std::get<Layout>(a).shape
                                                         : std::get<Composed>(a).layout().shape;
  OffsetTable table{{}, values(a)};
  if (rank == 1) table.extents = {size(shape).value()};
  for (int k = 0; rank > 1 && k < shape.rank(); ++k)
    table.extents.push_back(size(shape[k]).value());
  return table;
}

std::vector<int64_t> values_of(const AnyLayout& a) {
  return values(a);
}

int64_t leaf_count(const AnyLayout& a) {
  return std::holds_alternative<Layout>(a) ? std::get<Layout>(a).shape.leaf_count()
                                           : std::get<Composed>(a).layout().shape.leaf_count();
}

// Returns true if some layout of one mode, with extents that multiply to n, begins with these
// values: every factorisation, with strides read off.
bool begins_a_layout(const std::vector<int64_t>& begin, int64_t n, int64_t radix,
                     std::vector<std::pair<int64_t, int64_t>>& modes) {
  const auto value = [&](int64_t i) {
    int64_t sum = 0;
    for (const auto& [extent, stride] : modes) {
      sum += i % extent * stride;
      i /= extent;
    }
    return sum;
  };
  if (radix == n || static_cast<int64_t>(begin.size()) <= radix) {
    for (size_t i = 0; i < begin.size(); ++i) {
      if (begin[i] != value(static_cast<int64_t>(i))) return false;
    }
    return true;
  }
  for (int64_t extent = 2; extent <= n / radix; ++extent) {
    if (n / radix % extent != 0) continue;
    modes.push_back({extent, begin[static_cast<size_t>(radix)]});
    const bool found = begins_a_layout(begin, n, radix * extent, modes);
    modes.pop_back();
    if (found) return true;
  }
  return false;
}

bool begins_a_layout(std::vector<int64_t> begin, int64_t n) {
  std::vector<std::pair<int64_t, int64_t>> modes;
  for (size_t i = begin.size(); i-- > 0;) begin[i] -= begin[0];
  return begins_a_layout(begin, n, 1, modes);
}

bool begins_any(std::vector<int64_t> begin, int64_t n) {
  if (begins_a_layout(begin, n)) return true;
  for (int b = 1; b <= 3; ++b) {
    for (int s = b; s + b <= 6; ++s) {
      for (int m = 0; m + s + b <= 6; ++m) {
        for (const int sign : {1, -1}) {
          std::vector<int64_t> inside = begin;
          for (int64_t& v : inside) v = Swizzle(b, m, sign * s)(v);
          if (begins_a_layout(inside, n)) return true;
        }
      }
    }
  }
  return false;
}

}  // namespace

TEST_CASE("fit finds every layout again, coalesced") {
  Random random{1};
  for (int i = 0; i < 3000; ++i) {
    const Layout l = laws::random_layout(random, 2, 5);
    CAPTURE(l.to_string());
    const FittedLayout one = fit_table(table_of(l, 1));
    REQUIRE(one.layout);
    CHECK(values_of(*one.layout) == values(AnyLayout(l)));
    Facts facts;
    CHECK(to_string(*one.layout) == coalesce(facts, l).to_string());
    const FittedLayout many = fit_table(table_of(l, l.rank()));
    REQUIRE(many.layout);
    CHECK(values_of(*many.layout) == values(AnyLayout(l)));
    if (l.rank() > 1) CHECK(std::get<Layout>(*many.layout).rank() == l.rank());
  }
}

TEST_CASE("fit finds swizzled layouts with offsets") {
  Random random{2};
  for (int i = 0; i < 1500; ++i) {
    const int64_t b = random.in(1, 3), s = random.in(b, 4) * (random.once_in(4) ? -1 : 1);
    const AnyLayout a =
        composition(Swizzle(b, random.in(0, 3), s), random.once_in(3) ? random.in(0, 9) : 0,
                    laws::random_layout(random, 1, 6));
    CAPTURE(to_string(a));
    const FittedLayout found = fit_table(table_of(a, 1));
    REQUIRE(found.layout);
    CAPTURE(to_string(*found.layout));
    CHECK(values_of(*found.layout) == values(a));
    Facts facts;
    if (std::holds_alternative<Composed>(*found.layout) &&
        std::get<Swizzle>(std::get<Composed>(*found.layout).outer).b > 0) {
      CHECK(leaf_count(*found.layout) <=
            leaf_count(coalesce(facts, std::get<Composed>(a).layout())));
    }
  }
}

TEST_CASE("fit refuses at the first entry that no candidate allows") {
  Random random{3};
  int refused = 0;
  for (int i = 0; i < 1500; ++i) {
    const Layout l = laws::random_layout(random, 1, 6);
    OffsetTable table = table_of(l, 1);
    const int64_t n = static_cast<int64_t>(table.values.size());
    if (n > 24) continue;
    for (int64_t& v : table.values) v = std::abs(v) % 64;
    table.values[static_cast<size_t>(random.in(0, n - 1))] = random.in(0, 63);
    const FittedLayout found = fit_table(table);
    CAPTURE(table.values);
    const auto upto = [&](int64_t end) {
      return std::vector<int64_t>(table.values.begin(),
                                  table.values.begin() + static_cast<std::ptrdiff_t>(end));
    };
    if (found.layout) {
      CHECK(values_of(*found.layout) == table.values);
      continue;
    }
    ++refused;
    CHECK(begins_any(upto(found.broken), n));
    CHECK_FALSE(begins_any(upto(found.broken + 1), n));
  }
  CHECK(refused > 100);
}

TEST_CASE("fit of values far apart: a stride is a number of 64 bits") {
  const FittedLayout reached = fit_table({{2}, {0, INT64_MAX}});
  REQUIRE(reached.layout);
  CHECK(values_of(*reached.layout) == std::vector<int64_t>{0, INT64_MAX});
  const FittedLayout beyond = fit_table({{3}, {INT64_MAX, 0, -INT64_MAX}});
  CHECK_FALSE(beyond.layout);
  CHECK(beyond.broken == 2);
  CHECK(fit_table({{2}, {5, -INT64_MAX}}).broken == 1);
}

TEST_CASE("fit of 2^20 entries") {
  const Layout l(tuple(16, 8, 4, 2048), tuple(64, 2048, 1, 16384));
  CHECK(to_string(*fit_table(table_of(l, 1)).layout) == l.to_string());
  // Wrong at its last entry only: every candidate is followed to its end.
  OffsetTable almost = table_of(make_layout(1 << 20), 1);
  almost.values.back() = 7;
  CHECK(fit_table(almost).broken == (1 << 20) - 1);
  const AnyLayout swizzled = composition(Swizzle(3, 4, 3), make_layout(tuple(1 << 10, 1 << 10)));
  CHECK(to_string(*fit_table(table_of(swizzled, 1)).layout) == "Sw<3,4,3> o 0 o 1048576:1");
  CHECK(to_string(*fit_table(table_of(swizzled, 2)).layout) ==
        "Sw<3,4,3> o 0 o (1024,1024):(1,1024)");
}
