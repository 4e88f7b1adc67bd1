// The claims that the decision procedure is expected to settle: multiples, ranges, equalities,
// products of symbols. integers.cpp and lay_fuzz test against brute force that it is right; the
// tests here show that it is strong enough.

#include <catch2/catch.hpp>
#include <vector>

#include "frontend/algebra/integers/facts.h"
#include "frontend/algebra/support/refusal.h"

using namespace lay;

namespace {

struct Sizes3 {
  Facts facts;
  Int M = facts.dim("M"), N = facts.dim("N"), K = facts.dim("K");
  bool proves(const Predicate& p) { return facts.decide(p).verdict == Verdict::proved; }
};

}  // namespace

TEST_CASE("proofs: ranges and rounding") {
  Sizes3 s;
  CHECK(s.proves(less_equal(s.N, ceil_div(s.N, 128) * 128)));
  CHECK(s.proves(less(ceil_div(s.N, 128) * 128, s.N + 128)));
  CHECK(s.proves(less_equal(ceil_div(s.N, 4), s.N)));
  CHECK(s.proves(less(mod(s.N, 8), 8)));
  CHECK(s.proves(equal(floor_div(floor_div(s.N, 8), 4), floor_div(s.N, 32))));
  CHECK(s.proves(equal(floor_div(s.N * s.K + s.K - 1, s.K), s.N)));
  CHECK(s.proves(less_equal(s.N + s.K - 1, s.N * s.K)));
  CHECK(s.proves(less_equal(0, max(s.N, s.K) - min(s.N, s.K))));
}

TEST_CASE("proofs: a ceiling of a ceiling is one, whatever the divisors") {
  for (int inner = 2; inner <= 9; ++inner) {
    for (int outer = 2; outer <= 9; ++outer) {
      Sizes3 s;
      CAPTURE(inner, outer);
      CHECK(ceil_div(ceil_div(s.N, inner), outer) == ceil_div(s.N, inner * outer));
      CHECK(ceil_div(floor_div(s.N, inner), outer) ==
            floor_div(s.N + inner * (outer - 1), inner * outer));
    }
    Sizes3 s;
    CAPTURE(inner);
    CHECK(s.proves(less_equal(inner, ceil_div(s.N, inner) * inner)));
    CHECK(s.proves(less_equal(s.K, ceil_div(s.N, inner) * s.K)));
    CHECK(s.proves(equal(floor_div(s.N + inner - 1, inner), ceil_div(s.N, inner))));
  }
  Sizes3 s;
  CHECK(ceil_div(s.N * 3, 2).to_string() == "N + ceil_div(N,2)");
  CHECK(s.proves(equal(ceil_div(s.N, 2) + floor_div(s.N, 2), s.N)));
  CHECK(s.proves(less_equal(min(s.M, ceil_div(s.K, s.N)), s.M)));
  CHECK(s.proves(less_equal(min(s.M, ceil_div(s.K, s.N)), ceil_div(s.K, s.N))));
}

TEST_CASE("proofs: what is supposed is known, unless what is known rules it out") {
  Sizes3 s;
  CHECK(s.facts.suppose(divides(s.M, 4)));
  CHECK(s.proves(divides(s.M * s.K, 4)));
  CHECK(!s.facts.suppose(divides(s.M + 5, 4)));
  CHECK(!s.facts.suppose(Predicate(false)));
  CHECK(s.facts.suppose(Predicate(true)));
  CHECK(s.facts.suppose(less_equal(s.M, 8)));
  CHECK(!s.facts.suppose(less_equal(9, s.M)));
  // A supposition that was ruled out has left nothing behind.
  CHECK((!s.proves(equal(s.M, 4)) && !s.proves(not_equal(s.M, 4))));
  CHECK(s.facts.suppose(equal(s.M, 8)));
}

// Which facts about a remainder and a range contradict each other is counted.
TEST_CASE("proofs: a remainder within a range contradicts it only where no number is left") {
  for (int modulus = 2; modulus <= 8; ++modulus) {
    for (int rest = 0; rest < modulus; ++rest) {
      for (int low = 1; low <= 12; low += 2) {
        for (int high = low; high <= 13; ++high) {
          std::vector<int> left;
          for (int n = low; n <= high; ++n) {
            if (n % modulus == rest) left.push_back(n);
          }
          for (const bool range_first : {true, false}) {
            CAPTURE(modulus, rest, low, high, range_first);
            Sizes3 s;
            const Predicate range = both(less_equal(low, s.M), less_equal(s.M, high)),
                            remainder = equal(mod(s.M, modulus), rest);
            const auto assume_all = [&] {
              s.facts.assume(range_first ? range : remainder);
              s.facts.assume(range_first ? remainder : range);
            };
            if (left.empty()) {
              CHECK_THROWS_AS(assume_all(), Refusal);
              continue;
            }
            REQUIRE_NOTHROW(assume_all());
            CHECK(s.proves(less_equal(left.front(), s.M)));
            CHECK(s.proves(less_equal(s.M, left.back())));
            if (left.size() == 1) CHECK(s.facts.simplify(s.M) == left.front());
          }
        }
      }
    }
  }
}

TEST_CASE("proofs: multiples and products") {
  Sizes3 s;
  s.facts.assume(both(divides(s.M, s.N), divides(s.N, 8)));
  CHECK(s.proves(divides(s.M, 8)));
  CHECK(s.proves(less_equal(s.N, s.M)));
  CHECK(s.proves(divides(s.M * s.K, 8)));
  CHECK(s.proves(divides(s.K * s.K + s.K, 2)));
  CHECK(s.proves(divides(s.K * s.K * s.K - s.K, 6)));
  CHECK(s.proves(either(divides(s.K, 2), equal(mod(s.K, 2), 1))));
  CHECK_FALSE(s.proves(divides(s.K * s.K + s.K, 3)));
}

TEST_CASE("proofs: what is asked of a remainder is as good as a multiple") {
  Sizes3 s;
  s.facts.assume(equal(mod(s.M, s.N), 0));
  CHECK(s.proves(divides(s.M, s.N)));
  CHECK(s.proves(equal(floor_div(s.M, s.N) * s.N, s.M)));
  s.facts.assume(equal(s.K, s.N * 2));
  CHECK(s.proves(less(s.N, s.K)));
  s.facts.assume(both(less_equal(4, s.N), less_equal(s.N, 4)));
  CHECK(s.proves(equal(s.K, 8)));
  CHECK_THROWS_AS(s.facts.assume(not_equal(s.K, 8)), Refusal);
}

TEST_CASE("proofs: an index within its tile is an index within the whole") {
  Sizes3 s;
  const Int i = s.facts.dim("i"), j = s.facts.dim("j");
  s.facts.assume(divides(s.M, 128));
  s.facts.assume(both(less(i, divided(s.M, 128)), less(j, 128)));
  CHECK(s.proves(less(i * 128 + j, s.M)));
  s.facts.assume(less_equal(s.K, s.N));
  CHECK(s.proves(less((s.M - 1) * s.N + s.K - 1, s.M * s.N)));
}
