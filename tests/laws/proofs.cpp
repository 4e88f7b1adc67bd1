// What the decision procedure is expected to settle: multiples, ranges, equalities, products of symbols. That it is
// right is held against brute force in integers.cpp and by lay_fuzz; here is that it is strong enough.

#include <catch2/catch.hpp>

#include "frontend/algebra/facts.h"
#include "frontend/algebra/refusal.h"

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
