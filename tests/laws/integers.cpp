// Integers and facts: normal forms, texts, and verdicts that agree with brute force.

#include <catch2/catch.hpp>

#include "frontend/algebra/integers/facts.h"
#include "frontend/algebra/support/refusal.h"
#include "tests/laws/random_layouts.h"

using namespace lay;
using laws::Random;

namespace {

Int random_int(Random& random, const std::vector<Int>& dims, int depth) {
  return laws::random_integer(random, depth, [&] {
    return random.in(0, 1)
               ? Int(random.in(-6, 9))
               : dims[static_cast<size_t>(random.in(0, static_cast<int64_t>(dims.size()) - 1))];
  });
}

}  // namespace

TEST_CASE("an integer prints as Lay text") {
  Facts facts;
  const Int M = facts.dim("M"), N = facts.dim("N"), K = facts.dim("K");
  CHECK(divided(M, 128).to_string() == "M/128");
  CHECK(ceil_div(M, 96).to_string() == "ceil_div(M,96)");
  CHECK(floor_div(M, 96).to_string() == "M//96");
  CHECK((K * 128).to_string() == "128*K");
  CHECK((M * N + 1).to_string() == "M*N + 1");
  CHECK((1 - M).to_string() == "1 - M");
  CHECK((-M).to_string() == "-M");
  CHECK(mod(M, 128).to_string() == "M % 128");
  CHECK((ceil_div(M, 96) * K).to_string() == "K*ceil_div(M,96)");
  CHECK((floor_div(M, 96) * K).to_string() == "K*(M//96)");
  CHECK(ceil_div(M, K).to_string() == "ceil_div(M,K)");
  CHECK(floor_div(M, K).to_string() == "M//K");
  CHECK(divided(M + N, 8).to_string() == "(M + N)/8");
  CHECK((divided(K, 64) + 1).to_string() == "K/64 + 1");
  CHECK(min(M, 8).to_string() == "min(M,8)");
  CHECK(select(less(M, N), M, 4).to_string() == "(if M < N then M else 4)");
  CHECK(Predicate(divides(M, 96)).to_string() == "M % 96 == 0");
  CHECK(both(divides(M, 96), less_equal(K, N)).to_string() == "M % 96 == 0 and K <= N");
}

TEST_CASE("an arm that is not taken need not exist") {
  const Int K = Int::dim("K");
  const Int steps = select(divides(K, 64), divided(K, 64), ceil_div(K, 64) + 1);
  const auto at = [&](std::int64_t k) { return steps.substitute({{*K.dim_id(), k}}); };
  CHECK(at(128).is(2));
  CHECK(at(100).is(3));
  CHECK(at(100).value() == steps.evaluate({{*K.dim_id(), 100}}));
  const Predicate few = both(divides(K, 64), less_equal(divided(K, 64), 8));
  const Predicate odd = either(negate(divides(K, 64)), less_equal(divided(K, 64), 8));
  CHECK(few.substitute({{*K.dim_id(), 512}}).is_always());
  CHECK(few.substitute({{*K.dim_id(), 100}}).is_never());
  CHECK(odd.substitute({{*K.dim_id(), 100}}).is_always());
}

TEST_CASE("equal integers have one normal form") {
  const Int M = Int::dim("M"), N = Int::dim("N"), K = Int::dim("K");
  CHECK(divided(M, 128) * 128 == M);
  CHECK(ceil_div(ceil_div(M, 4), 8) == ceil_div(M, 32));
  CHECK(floor_div(M + 127, 128) == ceil_div(M, 128));
  CHECK(floor_div(M * 6 + 3, 4) == M + floor_div(M * 2 + 3, 4));
  CHECK(floor_div(M * N * 4, N * 2) == M * 2);
  CHECK(divided(M * N, N) == M);
  CHECK(divided(M * K + N * K, M + N) == K);
  CHECK((M + N) * (M - N) == M * M - N * N);
  CHECK(mod(M, 4) + floor_div(M, 4) * 4 == M);
  CHECK(Int::dim("M") != M);
}

TEST_CASE("arithmetic on symbols agrees with arithmetic on numbers") {
  Random random{2026};
  const std::vector<Int> dims{Int::dim("M"), Int::dim("N")};
  for (int round = 0; round < 3000; ++round) {
    Random replay = random;
    const Int symbolic = random_int(random, dims, 4);
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {3, 8}, {12, 5}, {7, 64}}) {
      Random again = replay;
      const Int literal = random_int(again, {m, n}, 4);
      const Binding binding{{*dims[0].dim_id(), m}, {*dims[1].dim_id(), n}};
      INFO(symbolic.to_string() << " at " << m << ", " << n);
      REQUIRE(literal.is_literal());
      REQUIRE(symbolic.evaluate(binding) == literal.value());
      REQUIRE(symbolic.substitute({{*dims[0].dim_id(), m}, {*dims[1].dim_id(), n}}) == literal);
    }
  }
}

TEST_CASE("overflow and division by zero are refused") {
  const Int big = INT64_MAX;
  CHECK_THROWS_AS(big + 1, Refusal);
  CHECK_THROWS_AS(big * 2, Refusal);
  CHECK_THROWS_AS(-Int(INT64_MIN), Refusal);
  CHECK_THROWS_AS(floor_div(Int(INT64_MIN), -1), Refusal);
  CHECK_THROWS_AS(floor_div(Int(1), 0), Refusal);
  CHECK_THROWS_AS(divided(Int(7), 2), Refusal);
  const Int M = Int::dim("M");
  CHECK_THROWS_AS(M * big * 2, Refusal);
}

TEST_CASE("verdicts") {
  Facts facts;
  const Int M = facts.dim("M"), N = facts.dim("N"), K = facts.dim("K"), lda = facts.dim("lda");
  facts.assume(divides(M, 128));
  facts.assume(less_equal(K, lda));
  const auto verdict = [&](const Predicate& p) { return facts.decide(p).verdict; };
  CHECK(verdict(divides(M, 64)) == Verdict::proved);
  CHECK(verdict(divides(M * N, 128)) == Verdict::proved);
  CHECK(verdict(less_equal(128, M)) == Verdict::proved);
  CHECK(verdict(less_equal(M, M * N)) == Verdict::proved);
  CHECK(verdict(less_equal(M * K, M * lda)) == Verdict::proved);
  CHECK(verdict(less_equal(M, ceil_div(M, 96) * 96)) == Verdict::proved);
  CHECK(verdict(less(ceil_div(N, 96) * 96, N + 96)) == Verdict::proved);
  CHECK(verdict(equal(ceil_div(M, 128) * 128, M)) == Verdict::proved);
  CHECK(verdict(less_equal(min(M, N), N)) == Verdict::proved);
  CHECK(verdict(not_equal(M * 2, N * 4 + 1)) == Verdict::proved);
  CHECK(facts.ceil_div(M, 128).to_string() == "M/128");
  CHECK(facts.min(M, 8) == Int(8));
  const Conclusion broken = facts.decide(divides(M, 96));
  CHECK(broken.verdict == Verdict::refuted);
  CHECK(broken.sizes == Sizes{{"M", 128}});
  CHECK(facts.decide(less(M, N)).sizes == Sizes{{"M", 128}, {"N", 1}});
  const Conclusion far = facts.decide(less(M * N, int64_t{1} << 31));
  CHECK(far.verdict == Verdict::refuted);
  CHECK(far.sizes == Sizes{{"M", 46336}, {"N", 46346}});
  CHECK_THROWS_AS(facts.assume(equal(M, 100)), Refusal);
  CHECK_THROWS_AS(facts.assume(less(lda, K)), Refusal);
}

TEST_CASE("a counterexample that is far is the smallest all the same") {
  Facts facts;
  const Int M = facts.dim("M"), N = facts.dim("N"), K = facts.dim("K");
  const auto least = [&](int64_t limit) {  // by sum, then by M, of all M*N >= limit
    std::pair<int64_t, int64_t> best{INT64_MAX, 0};
    for (int64_t m = 1; m * m <= 4 * limit; ++m)
      best = std::min(best, {m + (limit + m - 1) / m, m});
    return Sizes{{"M", best.second}, {"N", best.first - best.second}};
  };
  for (const int64_t limit : {1'000'000, 12'345'678, 2'147'483'647}) {
    CHECK(facts.decide(less(M * N, limit)).sizes == least(limit));
  }
  CHECK(facts.decide(less_equal(M, 1'000'000)).sizes == Sizes{{"M", 1'000'001}});
  CHECK(facts.decide(less(M * N * K, 1'000'000)).sizes ==
        Sizes{{"M", 100}, {"N", 100}, {"K", 100}});
  CHECK(facts.decide(either(less(N, 5000), less(M, 70000))).sizes ==
        Sizes{{"M", 70000}, {"N", 5000}});
  CHECK(facts.decide(less(floor_div(M, 128) * N, 1'000'000)).verdict == Verdict::refuted);
}

TEST_CASE("obligations become guards where undecided, and later ones may rely on them") {
  Facts facts;
  const Int M = facts.dim("M");
  GuardScope scope(facts);
  facts.require(divides(M, 96), "a test");
  facts.require(divides(M, 32), "a test");
  REQUIRE(scope.guards().size() == 1);
  CHECK(scope.guards()[0].to_string() == "M % 96 == 0");
  CHECK(scope.guards()[0].breaks == Sizes{{"M", 1}});
  CHECK_THROWS_AS(facts.require(equal(M, 0), "a test"), Refusal);
  {
    const Int N = facts.dim("N");
    Under then(facts, less(N, 4));
    REQUIRE(then.possible());
    CHECK(facts.decide(less(N, 5)).verdict == Verdict::proved);
    facts.require(equal(N, 2), "a test");
    CHECK(scope.guards().back().to_string() == "4 <= N or N == 2");
    CHECK_FALSE(Under(facts, less(7, N)).possible());
  }
}

TEST_CASE("what is proved holds and what is refuted fails, by brute force") {
  Random random{7};
  int proved = 0;
  for (int round = 0; round < 400; ++round) {
    Facts facts;
    const Int M = facts.dim("M"), N = facts.dim("N");
    Predicate known;
    const int64_t m = random.in(1, 6);
    if (random.in(0, 1)) known = divides(M, m);
    if (random.in(0, 1)) known = both(known, less_equal(N, random.in(3, 9)));
    if (random.in(0, 2) == 0) known = both(known, less_equal(N, M));
    facts.assume(known);
    const Int a = random_int(random, {M, N}, 3), b = random_int(random, {M, N}, 2);
    const Predicate claim = random.in(0, 2) == 0 ? divides(a, random.in(2, 6))
                            : random.in(0, 1)    ? less_equal(b, a)
                                                 : equal(a, b);
    const Conclusion decision = facts.decide(claim);
    INFO(known.to_string() << " |- " << claim.to_string());
    proved += decision.verdict == Verdict::proved && !claim.is_always();
    bool broken = false;
    for (int64_t sum = 2; sum < 40 && !broken; ++sum) {
      for (int64_t x = 1; x < sum && !broken; ++x) {
        const Binding binding{{*M.dim_id(), x}, {*N.dim_id(), sum - x}};
        if (known.evaluate(binding) != true) continue;
        broken = claim.evaluate(binding) == false;
        if (broken && decision.verdict == Verdict::refuted && decision.sizes.size() == 2) {
          CHECK(decision.sizes == Sizes{{"M", x}, {"N", sum - x}});
        }
      }
    }
    if (decision.verdict == Verdict::proved) REQUIRE_FALSE(broken);
    if (broken) REQUIRE(decision.verdict == Verdict::refuted);
  }
  CHECK(proved > 40);
}
