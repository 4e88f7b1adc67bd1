// The laws of operations.h that are not about composition, at every coordinate of small and random
// layouts.

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "tests/laws/oracle.h"
#include "tests/laws/random_layouts.h"

using namespace lay;
using namespace laws;

namespace {

template <typename Law>
void for_layouts(uint64_t seed, int rounds, const Law& law) {
  for (const Layout& a : small_layouts(4, 6)) law(a);
  Random random{seed};
  for (int i = 0; i < rounds; ++i) {
    const Layout a = random_layout(random, 2, 5);
    if (size(a).value() <= 1000) law(a);
  }
}

template <typename Operation>
std::optional<Layout> unless_refused(const Operation& operation) {
  try {
    return operation();
  } catch (const Refusal& refusal) {
    CHECK_FALSE(refusal.code.empty());
    CHECK_FALSE(refusal.message.empty());
    return std::nullopt;
  }
}

std::set<int64_t> image(const Layout& a) {
  const std::vector<int64_t> all = values(a);
  return {all.begin(), all.end()};
}

Layout side_by_side(const Layout& a, const Layout& b) {
  return make_layout(std::vector<Layout>{a, b});
}

// The greatest stride * extent.
int64_t reach(const Layout& a) {
  const std::vector<Tuple> extents = leaves(a.shape), strides = leaves(a.stride);
  int64_t most = 1;
  for (size_t i = 0; i < extents.size(); ++i) {
    most = std::max(most, extents[i].value().value() * strides[i].value().value());
  }
  return most;
}

}  // namespace

TEST_CASE("coalesce keeps the function and leaves nothing to merge") {
  for_layouts(11, 2000, [](const Layout& a) {
    Facts facts;
    const Layout r = coalesce(facts, a);
    INFO(a.to_string() << " gives " << r.to_string());
    REQUIRE(r.depth() <= 1);
    REQUIRE(same_function(a, r));
    REQUIRE(coalesce(facts, r) == r);
    const Layout by_mode = coalesce(facts, a, a.shape.is_leaf() ? Tuple(1) : tuple(1));
    REQUIRE(same_function(a, by_mode));
  });
}

TEST_CASE("filter keeps the image") {
  for_layouts(12, 1000, [](const Layout& a) {
    Facts facts;
    INFO(a.to_string());
    REQUIRE(image(filter(facts, a)) == image(a));
    REQUIRE(image(filter_zeros(a)) == image(a));
  });
}

TEST_CASE("complement: ascending, disjoint, and large enough") {
  for_layouts(13, 1500, [](const Layout& a) {
    for (const int64_t target : {1, 7, 24, 60}) {
      Facts facts;
      const auto r = unless_refused([&] { return complement(facts, a, target); });
      if (!r) continue;
      INFO(a.to_string() << " in " << target << " gives " << r->to_string());
      const std::vector<int64_t> steps = values(*r);
      REQUIRE(std::is_sorted(steps.begin(), steps.end()));
      const Layout base = filter(facts, a);
      const Layout both = side_by_side(base, *r);
      REQUIRE(std::max(reach(both), cosize(facts, both).value()) >= target);
      const std::vector<int64_t> own = values(base);
      std::set<int64_t> differences;
      for (const int64_t x : own) {
        for (const int64_t y : own) differences.insert(x - y);
      }
      for (size_t i = 1; i < std::min<size_t>(steps.size(), 200); ++i) {
        REQUIRE(steps[i] > 0);
        REQUIRE(differences.count(steps[i]) == 0);
      }
      if (image(base).size() == own.size()) {
        REQUIRE(image(side_by_side(base, *r)).size() == own.size() * steps.size());
      }
    }
  });
}

TEST_CASE("right inverse: a(R(i)) == i, as far as possible") {
  for_layouts(14, 2000, [](const Layout& a) {
    Facts facts;
    const Layout r = right_inverse(facts, a);
    INFO(a.to_string() << " gives " << r.to_string());
    const int64_t n = size(r).value();
    for (int64_t i = 0; i < n; ++i) REQUIRE(at(a, at(r, i)) == i);
    REQUIRE(n <= static_cast<int64_t>(image(a).size()));
    // A compact layout is inverted whole.
    const std::set<int64_t> all = image(a);
    if (static_cast<int64_t>(all.size()) == size(a).value() && *all.begin() == 0 &&
        *all.rbegin() == size(a).value() - 1) {
      REQUIRE(n == size(a).value());
    }
  });
}

TEST_CASE("left inverse: a(R(a(i))) == a(i)") {
  int inverted = 0;
  for_layouts(15, 2000, [&](const Layout& a) {
    Facts facts;
    const auto r = unless_refused([&] { return left_inverse(facts, a); });
    if (!r) return;
    ++inverted;
    INFO(a.to_string() << " gives " << r->to_string());
    for (const int64_t v : values(a)) REQUIRE(at(a, at(*r, v)) == v);
  });
  CHECK(inverted > 1000);
}

TEST_CASE("nullspace maps to 0") {
  for_layouts(16, 500, [](const Layout& a) {
    const Layout r = nullspace(a);
    INFO(a.to_string() << " gives " << r.to_string());
    for (const int64_t v : values(r)) REQUIRE(at(a, v) == 0);
  });
}

TEST_CASE("common vector: both hold i at the same place") {
  Random random{17};
  for (int round = 0; round < 2000; ++round) {
    Facts facts;
    const Tuple shape = random_shape(random, 1, 6);
    const Layout a = random_layout(random, shape), b = random_layout(random, shape);
    const Layout r = max_common_layout(facts, a, b);
    INFO(a.to_string() << " and " << b.to_string() << " give " << r.to_string());
    for (int64_t i = 0; i < size(r).value(); ++i) {
      REQUIRE(at(a, at(r, i)) == i);
      REQUIRE(at(b, at(r, i)) == i);
    }
    REQUIRE(max_common_vector(facts, a, b) == size(r));
    REQUIRE(max_common_vector(facts, a, a) == size(right_inverse(facts, a)));
  }
}

TEST_CASE("alignment: every stride but those of the leading run is a multiple") {
  for_layouts(18, 500, [](const Layout& a) {
    Facts facts;
    const Int n = max_alignment(facts, a);
    INFO(a.to_string() << " by " << n.to_string());
    REQUIRE(n.value() >= 1);
    REQUIRE(unless_refused([&] { return upcast(facts, coalesce(facts, a), n); }).has_value());
  });
}

TEST_CASE("divides: the tile first, then the rest, each element once") {
  Random random{19};
  int divided = 0;
  for (int round = 0; round < 2000; ++round) {
    Facts facts;
    const Layout a = random_layout(random, 1, 12), t = random_layout(random, 1, 4);
    const auto r = unless_refused([&] { return logical_divide(facts, a, t); });
    if (!r || size(*r).value() > 2000) continue;
    ++divided;
    INFO(a.to_string() << " by " << t.to_string() << " gives " << r->to_string());
    const Layout rest = complement(facts, t, coalesce(facts, a).shape);
    REQUIRE(composes(a, side_by_side(t, rest), *r));
    REQUIRE(same_function(*r, zipped_divide(facts, a, t)));
    REQUIRE(same_function(*r, tiled_divide(facts, a, t)));
    REQUIRE(same_function(*r, flat_divide(facts, a, t)));
  }
  CHECK(divided > 500);
}

TEST_CASE("divides by mode cover a layout whose modes the tiles divide exactly once") {
  Random random{20};
  for (int round = 0; round < 500; ++round) {
    Facts facts;
    const int64_t m = random.in(1, 5), n = random.in(1, 5), p = random.in(1, 4),
                  q = random.in(1, 4);
    const Layout a = random_layout(random, tuple(m * p, n * q));
    const Layout r = zipped_divide(facts, a, Tiler::of(tuple(m, n)));
    INFO(a.to_string() << " gives " << r.to_string());
    REQUIRE(r.shape == tuple(tuple(m, n), tuple(p, q)));
    std::vector<int64_t> before = values(a), after = values(r);
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    REQUIRE(before == after);
    REQUIRE(same_function(r[0], composition(facts, a, Tiler::of(tuple(m, n)))));
  }
}

TEST_CASE("products: the block, then copies of it that do not overlap") {
  Random random{21};
  int multiplied = 0;
  for (int round = 0; round < 2000; ++round) {
    Facts facts;
    const Layout a = random_layout(random, 1, 5), t = make_layout(random_shape(random, 1, 4));
    const auto r = unless_refused([&] { return logical_product(facts, a, t); });
    if (!r || size(*r).value() > 2000) continue;
    ++multiplied;
    INFO(a.to_string() << " times " << t.to_string() << " gives " << r->to_string());
    REQUIRE((*r)[0] == a);
    REQUIRE(size((*r)[1]) == size(t));
    REQUIRE(image(*r).size() == image(a).size() * image((*r)[1]).size());
    if (const auto blocked = unless_refused([&] { return blocked_product(facts, a, t); })) {
      REQUIRE(image(*blocked) == image(*r));
      REQUIRE(image(raked_product(facts, a, t)) == image(*r));
    }
  }
  CHECK(multiplied > 500);
}

TEST_CASE("tile_to_shape repeats the block over the shape") {
  Random random{22};
  for (int round = 0; round < 500; ++round) {
    Facts facts;
    const int64_t m = random.in(1, 5), n = random.in(1, 5), p = random.in(1, 4),
                  q = random.in(1, 4);
    const Tuple shape = tuple(m, n);
    const Layout block = random.once_in(2) ? make_layout(shape) : make_layout_right(shape);
    const Layout r = tile_to_shape(facts, block, tuple(m * p, n * q),
                                   random.once_in(2) ? tuple(0, 1) : tuple(1, 0));
    INFO(block.to_string() << " gives " << r.to_string());
    REQUIRE(product_each(r.shape) == tuple(m * p, n * q));
    REQUIRE(static_cast<int64_t>(image(r).size()) == m * n * p * q);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        REQUIRE(evaluate(facts, r, tuple(i, j)) == evaluate(facts, block, tuple(i, j)));
      }
    }
  }
}

TEST_CASE("upcast: words that hold the elements, and downcast: the elements of the words") {
  Random random{23};
  for (int round = 0; round < 2000; ++round) {
    Facts facts;
    const Layout a = random_layout(random, 1, 8);
    const int64_t n = random.in(1, 4);
    if (const auto up = unless_refused([&] { return upcast(facts, a, n); })) {
      INFO(a.to_string() << " by " << n << " gives " << up->to_string());
      std::set<int64_t> words;
      for (const int64_t v : values(a)) words.insert(v / n);
      const std::set<int64_t> found = image(*up);
      REQUIRE(std::includes(found.begin(), found.end(), words.begin(), words.end()));
    }
    const Layout compact = make_layout(a.shape);
    if (const auto down = unless_refused([&] { return downcast(facts, compact, n); })) {
      INFO(compact.to_string() << " into " << n << " gives " << down->to_string());
      REQUIRE(size(*down) == size(compact) * n);
      REQUIRE(static_cast<int64_t>(image(*down).size()) == size(*down).value());
      REQUIRE(same_function(coalesce(facts, upcast(facts, *down, n)), coalesce(facts, compact)));
    }
  }
}

TEST_CASE("slices: the sublayout and the offset together are the layout") {
  Random random{24};
  for (int round = 0; round < 500; ++round) {
    Facts facts;
    const Layout a = random_layout(
        random, tuple(random.in(1, 5), tuple(random.in(1, 4), random.in(1, 4)), random.in(1, 3)));
    const Int i = random.in(0, 4), j = random.in(0, 3);
    const Tuple keep = Tuple::underscore();
    const Slice s = slice_and_offset(facts, tuple(i, tuple(keep, j), keep), a);
    INFO(a.to_string() << " gives " << s.sub.to_string() << " and " << s.offset.to_string());
    for (int64_t x = 0; x < a.shape[1][0].value().value(); ++x) {
      for (int64_t y = 0; y < a.shape[2].value().value(); ++y) {
        REQUIRE(add(evaluate(facts, s.sub, tuple(x, y)), s.offset) ==
                evaluate(facts, a, tuple(i, tuple(x, j), y)));
      }
    }
    REQUIRE(dice(tuple(0, tuple(keep, 0), keep), a).rank() == 2);
  }
}

TEST_CASE("coordinates: one function on indices, natural coordinates and everything between") {
  for_layouts(25, 500, [](const Layout& a) {
    Facts facts;
    INFO(a.to_string());
    const std::vector<int64_t> all = values(a);
    for (int64_t i = 0; i < static_cast<int64_t>(all.size()) + 5; ++i) {
      const Tuple natural = idx2crd(facts, i, a.shape);
      REQUIRE(congruent(natural, a.shape));
      REQUIRE(crd2idx(facts, natural, a.shape) == Int(i));
      REQUIRE(evaluate(facts, a, natural) == evaluate(facts, a, i));
      if (a.shape.is_tuple()) {
        REQUIRE(evaluate(facts, a, idx2crd(facts, i, product_each(a.shape))) ==
                evaluate(facts, a, i));
      }
      if (i < static_cast<int64_t>(all.size())) REQUIRE(all[static_cast<size_t>(i)] == at(a, i));
    }
  });
}
