// composition is right or refused, it refuses known operands only where no layout exists, and its
// refusals are true.

#include <catch2/catch.hpp>
#include <map>

#include "frontend/algebra/support/trace.h"
#include "tests/laws/oracle.h"
#include "tests/laws/random_layouts.h"

using namespace lay;
using namespace laws;

namespace {

void check(const Layout& a, const Layout& b) {
  Facts facts;
  GuardScope scope(facts);
  INFO(a.to_string() << " o " << b.to_string());
  try {
    const Layout r = composition(facts, a, b);
    INFO("gives " << r.to_string());
    REQUIRE(composes(a, b, r));
    REQUIRE(scope.guards().empty());
  } catch (const Refusal& refusal) {
    REQUIRE_FALSE(can_compose(a, b));
    REQUIRE(refusal.witness);
    const Counterexample& w = *refusal.witness;
    REQUIRE(std::stoll(w.middle) == at(b, w.index));
    REQUIRE(std::stoll(w.expected) == at(a, at(b, w.index)));
    REQUIRE(w.expected != w.got);
  }
}

Refusal refused(const Layout& a, const Layout& b) {
  Facts facts;
  try {
    composition(facts, a, b);
  } catch (const Refusal& refusal) {
    return refusal;
  }
  FAIL("not refused");
  return {};
}

std::string composed(const Layout& a, const Layout& b) {
  Facts facts;
  return composition(facts, a, b).to_string();
}

}  // namespace

TEST_CASE("composition: all small layouts after all small layouts") {
  const std::vector<Layout> right = small_layouts(3, 5);
  std::vector<Layout> left;
  for (int64_t s = 2; s <= 4; ++s) {
    for (int64_t t = 2; t <= 3; ++t) {
      left.emplace_back(tuple(s, t), tuple(1, 7));
      left.emplace_back(tuple(s, t, 2), tuple(11, 1, 50));
    }
  }
  left.emplace_back(tuple(4, 1), tuple(1, 0));
  left.emplace_back(12, 5);
  for (const Layout& a : left) {
    for (const Layout& b : right) check(a, b);
  }
}

TEST_CASE("composition: random layouts") {
  Random random{20261120};
  for (int i = 0; i < 4000; ++i) {
    const Layout a = random_layout(random, 2, 6), b = random_layout(random, 2, 5);
    if (size(b).value() <= 600) check(a, b);
  }
}

TEST_CASE("composition: a carry is refused with the coordinate and repairs that work") {
  const Layout a(tuple(6, 2), tuple(1, 7)), b(tuple(3, 2), tuple(2, 3));
  const Refusal r = refused(a, b);
  CHECK(r.code == "composition-carry");
  CHECK(r.message == "this composition is not a layout");
  REQUIRE(r.labels.size() == 1);
  CHECK(r.labels[0].text == "mode 1 steps by 3 and carries out of mode 0 of the left side");
  REQUIRE(r.witness);
  CHECK(r.witness->index == 5);
  CHECK(r.witness->coordinate == "(2,1)");
  const auto notes = r.notes();
  REQUIRE(notes.size() == 3);
  CHECK(notes[0].second ==
        "5, coordinate (2,1): the right side gives 7, which the left side maps to 8, but "
        "(3,2):(2,3) would give 7");
  CHECK(r.works ==
        std::vector<std::string>{"the left side as 12:1", "the right side as (3,2):(2,6)"});
}

TEST_CASE("composition: where known implementations are wrong") {
  CHECK(refused(Layout(tuple(3, 2), tuple(1, 100)), Layout(tuple(2, 2), tuple(1, 2)))
            .witness->index == 3);
  CHECK(refused(Layout(tuple(4, 6, 8), tuple(2, 3, 5)), Layout(6, 3)).code == "composition-stride");
  CHECK(refused(Layout(tuple(4, 4), tuple(1, 10)), Layout(tuple(2, 2), tuple(3, 1))).code ==
        "composition-carry");
  CHECK(refused(Layout(tuple(8, 2), tuple(0, 6)), Layout(tuple(6, 4), tuple(1, 2))).code ==
        "composition-carry");
}

TEST_CASE("composition: forms") {
  CHECK(composed(Layout(tuple(6, 2), tuple(8, 2)), Layout(tuple(4, 3), tuple(3, 1))) ==
        "((2,2),3):((24,2),8)");
  CHECK(composed(Layout(tuple(10, 2), tuple(16, 4)), Layout(tuple(5, 4), tuple(1, 5))) ==
        "(5,(2,2)):(16,(80,4))");
  CHECK(composed(Layout(tuple(4, 3), tuple(3, 1)), Layout(8, 1)) == "(4,2):(3,1)");
  CHECK(composed(Layout(tuple(4, 6), tuple(1, 7)), Layout(1, 6)) == "1:14");
  CHECK(composed(Layout(tuple(4, 6), tuple(1, 7)), Layout(2, 6)) == "2:9");
  CHECK(composed(Layout(tuple(4, tuple(2, 3)), tuple(6, tuple(3, 1))),
                 Layout(tuple(2, 4), tuple(Tuple::basis(1, {1, 1}), Tuple::basis(1, {0})))) ==
        "(2,4):(1,6)");
}

TEST_CASE("composition: by mode, and what is too large to list") {
  Facts facts;
  const Layout a(tuple(4, 4, 5), tuple(1, 4, 16));
  CHECK(composition(facts, a, Tiler::of(tuple(2, 2))).to_string() == "(2,2):(1,4)");
  CHECK(composition(facts, a, Tiler::of(tuple(2, Tuple::underscore()))).to_string() ==
        "(2,4):(1,4)");
  CHECK_THROWS_AS(composition(facts, a, Tiler::of(tuple(1, 1, 1, 1))), Refusal);
  const int64_t big = 1'000'000'000;
  const Layout wide(tuple(big, big), tuple(1, big));
  CHECK(composed(wide, Layout(tuple(big, 7), tuple(1, big))) == "(1000000000,7):(1,1000000000)");
  CHECK_THROWS_AS(make_layout(tuple(big * big, big * big)), Refusal);
  const Refusal r = refused(Layout(tuple(big, big), tuple(3, 1)), Layout(big, 7));
  CHECK(r.message == "no layout was found for this composition");
}

TEST_CASE("composition: the rule in plain numbers is the rule with facts") {
  Random random{31};
  int composed_both = 0;
  for (int i = 0; i < 3000; ++i) {
    const Layout a = random_layout(random, 2, 6);
    const Layout b = random.once_in(8) ? negated(random, random_layout(random, 2, 5))
                                       : random_layout(random, 2, 5);
    if (size(b).value() > 600) continue;
    const auto compose = [&]() -> std::optional<Layout> {
      Facts facts;
      try {
        return composition(facts, a, b);
      } catch (const Refusal&) {
        return std::nullopt;
      }
    };
    const auto fast = compose();
    trace::Derivation derivation;
    const trace::Listening listening(derivation);  // takes the rules step by step
    INFO(a.to_string() << " o " << b.to_string());
    REQUIRE(compose() == fast);
    composed_both += fast.has_value();
  }
  CHECK(composed_both > 1000);
}

TEST_CASE("composition: a left side of coordinates is fitted by its values as well") {
  const Layout a(tuple(4, 6), tuple(Tuple::basis(1, {0}), Tuple::basis(1, {1})));
  CHECK(composed(a, Layout(2, 4)) == "2:1@1");
  CHECK(composed(Layout(tuple(4, 6), tuple(Tuple::basis(2, {0}), Tuple::basis(7, {0}))),
                 Layout(2, 6)) == "2:11@0");
  const Refusal r = refused(a, Layout(2, 6));  // one step goes along both modes
  CHECK(r.code == "composition-stride");
  REQUIRE(r.witness);
  CHECK(r.witness->index == 1);
  CHECK(r.witness->expected == "(2,1)");
}

TEST_CASE("composition: units that differ do not meet") {
  Facts facts;
  Layout a(8, 1), b(4, 2);
  a.units.domain = {Counts::bytes, {}};
  b.units.codomain = elements_of(ElementType::f16);
  CHECK_THROWS_AS(composition(facts, a, b), Refusal);
  b.units.codomain = {Counts::bytes, {}};
  CHECK(composition(facts, a, b).to_string() == "4:2");
}
