// The law of symbols for swizzles seen through layouts, and for inverses of swizzled layouts:
// instantiated at sizes that the guards allow, every value is compared with the definition.

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/laws/oracle.h"
#include "tests/laws/random_layouts.h"

using namespace lay;
using namespace laws;

namespace {

struct World {
  Facts facts;
  Int n = facts.dim("N"), m = facts.dim("M");

  // Compact, in some order of its modes.
  Layout layout(Random& random) const {
    std::vector<Tuple> extents, order;
    const int64_t rank = random.in(1, 3), symbol = random.in(0, rank - 1);
    for (int64_t k = 0; k < rank; ++k) {
      const Int literal = int64_t{1} << random.in(0, 4);
      extents.push_back(k == symbol ? n * literal : random.once_in(4) ? m * literal : literal);
      order.push_back((k + 1) % rank);
    }
    const Tuple shape = rank == 1 ? extents[0] : Tuple(extents);
    if (random.once_in(3)) return make_layout(shape);
    if (random.once_in(2) || rank == 1) return make_layout_right(shape);
    return make_ordered_layout(shape, Tuple(order));
  }

  // `judge` at sizes from 1 to 9 that the guards allow; how many.
  template <typename Judge>
  int each_instance(const std::vector<Guard>& guards, const Judge& judge) const {
    int held = 0;
    for (int64_t size = 1; size < 10; ++size) {
      const std::map<DimId, Int> sizes{{*n.dim_id(), size}, {*m.dim_id(), size % 3 + 1}};
      const Binding at{{*n.dim_id(), size}, {*m.dim_id(), size % 3 + 1}};
      const bool hold = std::all_of(guards.begin(), guards.end(), [&](const Guard& guard) {
        return either(negate(guard.path), guard.predicate).evaluate(at) == true;
      });
      if (hold) judge(sizes), ++held;
    }
    return held;
  }
};

int64_t value_at(const AnyLayout& a, int64_t index) {
  Facts facts;
  return evaluate(facts, a, index).value().value();
}

AnyLayout at_sizes(const AnyLayout& a, const std::map<DimId, Int>& sizes) {
  return std::visit([&](const auto& l) { return AnyLayout(substitute(l, sizes)); }, a);
}

int64_t size_of(const Composed& a) {
  const Layout* inner = std::get_if<Layout>(&a.inner);
  return size(inner ? *inner : std::get<Layout>(a.outer)).value();
}

}  // namespace

TEST_CASE("symbols: a layout lets a swizzle through") {
  Random random{11};
  int moved = 0, held = 0;
  for (int round = 0; round < 1500; ++round) {
    World world;
    const Layout a = world.layout(random);
    const Swizzle s = random_swizzle(random);
    const Composed r = composition(world.facts, a, s);
    INFO(a.to_string() << " o " << s.to_string() << " gives " << r.to_string());
    const bool is_moved = s.b > 0 && std::holds_alternative<Swizzle>(r.outer);
    moved += is_moved;
    held += world.each_instance({}, [&](const std::map<DimId, Int>& sizes) {
      const Layout known = substitute(a, sizes);
      for (int64_t i = 0; i < std::min<int64_t>(size(known).value(), 2048); ++i) {
        REQUIRE(value_at(at_sizes(r, sizes), i) == Plain(known)(s(i)));
      }
    });
  }
  CHECK(moved > 200);
  CHECK(held == 9 * 1500);
}

TEST_CASE("symbols: inverses of swizzled layouts, and what they give composed") {
  Random random{12};
  int held = 0, undone = 0;
  for (int round = 0; round < 1500; ++round) {
    World world;
    const Composed a = composition(random_swizzle(random), world.layout(random));
    INFO(a.to_string());
    GuardScope scope(world.facts);
    const Composed r = right_inverse(world.facts, a);
    INFO("right inverse " << r.to_string());
    held += world.each_instance(scope.guards(), [&](const std::map<DimId, Int>& sizes) {
      const Composed known = substitute(r, sizes);
      for (int64_t i = 0; i < std::min<int64_t>(size_of(known), 2048); ++i) {
        REQUIRE(value_at(at_sizes(a, sizes), value_at(known, i)) == i);
      }
    });
    try {
      const AnyLayout both = composition(world.facts, a, r);
      INFO("composed " << to_string(both));
      world.each_instance(scope.guards(), [&](const std::map<DimId, Int>& sizes) {
        for (int64_t i = 0; i < std::min<int64_t>(size_of(substitute(r, sizes)), 2048); ++i) {
          REQUIRE(value_at(at_sizes(both, sizes), i) == i);
        }
      });
      ++undone;
    } catch (const Refusal& refusal) {
      REQUIRE(refusal.code != "offset");
    }
  }
  CHECK(held > 6000);
  CHECK(undone > 900);
}
