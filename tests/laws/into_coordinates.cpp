// The laws of into_coordinates.h at every coordinate of random layouts.
#include "frontend/algebra/layouts/into_coordinates.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/laws/random_layouts.h"

using namespace lay;
using namespace laws;

namespace {

// Up to four modes along up to three directions, (0), (1,0) and (1,1).
Layout random_into_coordinates(Random& draw) {
  const std::vector<std::vector<int>> paths = {{0}, {1, 0}, {1, 1}};
  std::vector<Tuple> shape, stride;
  for (int64_t k = draw.in(1, 4); k > 0; --k) {
    shape.emplace_back(draw.in(1, 4));
    stride.push_back(Tuple::basis(draw.in(0, 6), paths[static_cast<size_t>(draw.in(0, 2))]));
  }
  stride.back() = Tuple::basis(1, {1, 1});  // coordinates nest alike
  return Layout(Tuple(shape), Tuple(stride));
}

// The coordinate in full: parts that a value does not reach are 0.
Tuple whole(const Tuple& value, const Tuple& shape) {
  return add(value, repeat_like(shape, 0));
}

}  // namespace

TEST_CASE("inverses of layouts into coordinates") {
  Random draw{17};
  int left = 0, right = 0;
  for (int round = 0; round < 3000; ++round) {
    const Layout a = random_into_coordinates(draw);
    Facts facts;
    const Tuple shape = coshape(facts, a);
    const int64_t n = size(a).value();
    INFO(a.to_string());
    try {
      const Layout r = left_inverse_of_coordinates(facts, a);
      INFO(r.to_string());
      ++left;
      for (int64_t i = 0; i < n; ++i) {
        const Tuple value = evaluate(facts, a, i);
        const int64_t back = evaluate(facts, r, whole(value, shape)).value().value();
        REQUIRE((back >= 0 && back < n));
        REQUIRE(whole(evaluate(facts, a, back), shape) == whole(value, shape));
      }
    } catch (const Refusal& refusal) {
      CHECK((refusal.code == "left-inverse" || refusal.code.starts_with("composition")));
    }
    const Layout r = right_inverse_of_coordinates(facts, a);
    INFO(r.to_string());
    REQUIRE(r.rank() == shape.rank());
    right += size(r).value() > 1;
    for (int64_t i = 0; i < size(r).value(); ++i) {
      const Tuple c = idx2crd(facts, i, r.shape);
      const Int at = evaluate(facts, r, c).value();
      const auto part = [&](const Tuple& digits, const Tuple& extents) {
        return crd2idx(facts, digits, extents);
      };
      const Tuple coordinate = tuple(part(c[0], r.shape[0]), tuple(part(c[1][0], r.shape[1][0]),
                                                                   part(c[1][1], r.shape[1][1])));
      REQUIRE(whole(evaluate(facts, a, at), shape) == coordinate);
    }
  }
  CHECK(left > 1000);
  CHECK(right > 1000);
}

TEST_CASE("complements of layouts into coordinates") {
  Random draw{17};
  int some = 0;
  for (int round = 0; round < 200; ++round) {
    const Layout a = random_into_coordinates(draw);
    Facts facts;
    const Tuple shape = tuple(draw.in(1, 12), tuple(draw.in(1, 12), draw.in(1, 12)));
    INFO(a.to_string() << " in " << shape.to_string());
    std::optional<Layout> r;
    try {
      r = complement_of_coordinates(facts, a, shape);
    } catch (const Refusal& refusal) {
      CHECK(refusal.code == "complement-overlap");
      continue;
    }
    INFO(r->to_string());
    std::set<std::string> values, sums;
    for (int64_t i = 0; i < size(a).value(); ++i)
      values.insert(whole(evaluate(facts, a, i), shape).to_string());
    for (int64_t j = 0; j < size(*r).value(); ++j) {
      std::set<std::string> moved;
      for (int64_t i = 0; i < size(a).value(); ++i) {
        const Tuple sum = add(evaluate(facts, a, i), evaluate(facts, *r, j));
        moved.insert(whole(sum, shape).to_string());
      }
      REQUIRE(moved.size() == values.size());
      for (const std::string& place : moved)
        REQUIRE(sums.insert(place).second);  // no two copies meet
    }
    some += size(*r).value() > 1;
  }
  CHECK(some > 30);
}
