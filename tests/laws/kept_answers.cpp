// Values and proofs that are kept say what they say where nothing was asked before.

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "frontend/algebra/integers/facts.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/integers/valuation.h"
#include "frontend/algebra/support/refusal.h"
#include "tests/laws/random_layouts.h"

using namespace lay;
using namespace laws;

namespace {

// Each atom worked out wherever it stands.
std::optional<int64_t> plain_value(const Int& a, const Binding& at) {
  return evaluate(a, [&](const Atom& atom) -> std::optional<int64_t> {
    if (atom.kind != AtomKind::dim)
      return evaluate(atom, [&](const Int& part) { return plain_value(part, at); });
    const auto found = at.find(atom.id);
    return found == at.end() ? std::nullopt : std::optional(found->second);
  });
}

}  // namespace

TEST_CASE("values: many integers at the same sizes have the values that each has alone") {
  Random random{41};
  const Int m = Int::dim("M"), n = Int::dim("N"), unbound = Int::dim("P");
  const auto leaf = [&]() -> Int {
    if (random.once_in(12)) return unbound;
    return random.once_in(3) ? Int(random.in(1, 9)) : random.once_in(2) ? m : n;
  };
  int known = 0;
  for (int round = 0; round < 300; ++round) {
    const Binding at{{*m.dim_id(), random.in(1, 1000)}, {*n.dim_id(), random.in(1, 1000)}};
    Valuation values(at);
    for (int i = 0; i < 20; ++i) {
      try {
        const Int a = random_integer(random, 5, leaf);
        const Predicate p = random_condition(random, 2, leaf);
        INFO(a.to_string() << ", " << p.to_string());
        REQUIRE(values.of(a) == plain_value(a, at));
        REQUIRE(values.of(p) ==
                evaluate(p, [&](const Int& part) { return plain_value(part, at); }));
        known += values.of(a).has_value();
      } catch (const Refusal&) {  // numbers beyond 64 bits, or a divisor that is 0
      }
    }
  }
  CHECK(known > 1000);
}

TEST_CASE("proofs: what is known under conditions is what they say, however often they are met") {
  Random random{43};
  const Int m = Int::dim("M"), n = Int::dim("N");
  const auto leaf = [&]() -> Int {
    return random.once_in(3) ? Int(random.in(1, 9)) : random.once_in(2) ? m : n;
  };
  int proved = 0;
  for (int round = 0; round < 60; ++round) {
    try {
      std::vector<Predicate> conditions, asked;
      for (int i = 0; i < 4; ++i) conditions.push_back(random_condition(random, 1, leaf));
      for (int i = 0; i < 6; ++i) asked.push_back(random_condition(random, 1, leaf));
      for (const Predicate& each : conditions) asked.push_back(each);
      Facts facts;
      const Predicate always = random_condition(random, 0, leaf);
      const bool assumed = facts.suppose(always);
      // Two and two of the conditions, in turn, and a guard that one of them leaves behind.
      for (int turn = 0; turn < 24; ++turn) {
        const Predicate &outer = conditions[static_cast<size_t>(random.in(0, 3))],
                        &inner = conditions[static_cast<size_t>(random.in(0, 3))];
        const Guard guard{Predicate(), asked[static_cast<size_t>(random.in(0, 9))], "a test", {}};
        const bool is_guarded = random.once_in(4);
        std::unique_ptr<GuardScope> scope;
        if (is_guarded) {
          scope = std::make_unique<GuardScope>(facts);
          facts.raise(guard);
        }
        const Under outside(facts, outer), inside(facts, inner);
        Facts fresh;
        if (assumed) REQUIRE(fresh.suppose(always));
        if (is_guarded) fresh.raise(guard);
        const Under fresh_outside(fresh, outer), fresh_inside(fresh, inner);
        REQUIRE(inside.possible() == fresh_inside.possible());
        for (const Predicate& each : asked) {
          INFO(outer.to_string() << "; " << inner.to_string() << ": " << each.to_string());
          REQUIRE(facts.proves(each) == fresh.proves(each));
          proved += facts.proves(each);
        }
      }
    } catch (const Refusal&) {  // as above
    }
  }
  CHECK(proved > 1000);
}
