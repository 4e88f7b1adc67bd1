// Conditions made ready for many sizes say what the conditions say: at points, and of boxes by all
// points in them.

#include <catch2/catch.hpp>

#include "frontend/algebra/integers/facts.h"
#include "frontend/algebra/integers/size_predicate.h"
#include "frontend/algebra/support/refusal.h"
#include "tests/laws/random_layouts.h"

using namespace lay;
using namespace laws;

TEST_CASE("a condition made ready is the condition, at points and over boxes") {
  Random random{31};
  int decided = 0;
  for (int round = 0; round < 3000; ++round) {
    const Int m = Int::dim("M"), n = Int::dim("N");
    const auto leaf = [&]() -> Int {
      return random.once_in(3) ? Int(random.in(1, 9)) : random.once_in(2) ? m : n;
    };
    try {
      const Predicate condition = random_condition(random, 2, leaf);
      INFO(condition.to_string());
      const SizePredicate ready(condition);
      const DimId m_id = *m.dim_id(), n_id = *n.dim_id();
      const int64_t m0 = random.in(1, 9), m1 = random.in(m0, 12), n0 = random.in(1, 9),
                    n1 = random.in(n0, 12);
      const Tri over = ready.over({{m_id, n_id}, {{m0, m1}, {n0, n1}}});
      decided += over != Tri::unknown;
      for (int64_t x = m0; x <= m1; ++x) {
        for (int64_t y = n0; y <= n1; ++y) {
          const Binding at{{m_id, x}, {n_id, y}};
          const auto expected = condition.evaluate(at);
          INFO("M = " << x << ", N = " << y);
          REQUIRE(ready.at(at) == expected);
          if (expected && over != Tri::unknown) REQUIRE(*expected == (over == Tri::yes));
        }
      }
    } catch (const Refusal&) {  // numbers beyond 64 bits, or a divisor that is 0
    }
  }
  CHECK(decided > 700);
}

TEST_CASE("a condition has no value where a side without one could settle it") {
  const Int m = Int::dim("M");
  // M*M*M leaves 64 bits.
  const Predicate unknown = less(m * m * m, Int(8)), yes = less_equal(Int(1), m),
                  no = less(m, Int(1));
  const Binding at{{*m.dim_id(), int64_t{1} << 40}};
  REQUIRE(unknown.evaluate(at) == std::nullopt);
  for (const bool swapped : {false, true}) {
    const auto joined = [&](auto join, const Predicate& other) {
      return (swapped ? join(other, unknown) : join(unknown, other)).evaluate(at);
    };
    CHECK(joined(both, yes) == std::nullopt);
    CHECK(joined(both, no) == false);
    CHECK(joined(either, yes) == true);
    CHECK(joined(either, no) == std::nullopt);
  }
}
