// The law of symbols: where the guards hold, putting numbers for the symbols into a result gives
// what the operation gives on the numbers.

#include <catch2/catch.hpp>
#include <functional>

#include "tests/laws/oracle.h"
#include "tests/laws/random_layouts.h"

using namespace lay;
using namespace laws;

namespace {

// A literal layout and the same with symbols for some of its numbers.
struct Twin {
  Layout known;
  Layout symbolic;
};

// Makes twins whose symbols it remembers, and states true facts about some of them.
class Symbols {
 public:
  Symbols(Random& random, Facts& facts) : random_(random), facts_(facts) {}

  Int maybe(int64_t value) {
    if (value < 1 || random_.once_in(2)) return value;
    for (const auto& [dim, known] : dims_) {
      if (known == value && random_.once_in(2)) return dim;
      if (known > 1 && value % known == 0 && random_.once_in(2)) return dim * (value / known);
    }
    const Int dim = facts_.dim("D" + std::to_string(dims_.size()));
    dims_.emplace_back(dim, value);
    values_[*dim.dim_id()] = value;
    const int64_t fact = random_.in(0, 4);
    if (fact == 0) facts_.assume(less_equal(dim, value + random_.in(0, 3)));
    if (fact == 1) facts_.assume(less_equal(value, dim));
    if (fact == 2) {
      for (int64_t m = 8; m > 1; --m) {
        if (value % m == 0) return facts_.assume(divides(dim, m)), dim;
      }
    }
    return dim;
  }

  Twin twin(const Layout& known) {
    const auto some = [&](const Tuple& leaf) -> Tuple { return maybe(leaf.value().value()); };
    return {known, Layout(transform(known.shape, some), transform(known.stride, some))};
  }

  // Compact, so that its strides are products of its symbols.
  Twin compact(const Tuple& shape) {
    const Tuple symbolic =
        transform(shape, [&](const Tuple& leaf) -> Tuple { return maybe(leaf.value().value()); });
    const bool left = random_.once_in(2);
    const Layout a = left ? make_layout(symbolic) : make_layout_right(symbolic);
    return {Layout(shape, instantiate(a).stride), a};
  }

  Layout instantiate(const Layout& a) const {
    std::map<DimId, Int> replacement;
    for (const auto& [id, value] : values_) replacement[id] = value;
    return substitute(a, replacement);
  }

  bool hold(const std::vector<Guard>& guards) const {
    for (const Guard& guard : guards) {
      if (either(negate(guard.path), guard.predicate).evaluate(values_) != true) return false;
    }
    return true;
  }

 private:
  Random& random_;
  Facts& facts_;
  std::vector<std::pair<Int, int64_t>> dims_;
  Binding values_;
};

struct Tally {
  int held = 0;
  int guarded_out = 0;
  int refused = 0;
};

// Runs the symbolic operation; where its guards hold, `law` judges the instantiated result.
template <typename Operation, typename Law>
void judge(Facts& facts, const Symbols& symbols, Tally& tally, const Operation& operation,
           const Law& law) {
  GuardScope scope(facts);
  try {
    const Layout result = operation();
    if (!symbols.hold(scope.guards())) {
      ++tally.guarded_out;
      return;
    }
    INFO("result " << result.to_string());
    for (const Guard& guard : scope.guards()) UNSCOPED_INFO("guard " << guard.to_string());
    REQUIRE(law(symbols.instantiate(result)));
    ++tally.held;
  } catch (const Refusal& refusal) {
    ++tally.refused;
    // A claim that can never hold must fail on the numbers as well; an undecided one names what
    // would decide.
    if (refusal.code == "undecided") REQUIRE_FALSE(refusal.help.empty());
  }
}

template <typename Operation>
bool accepted(const Operation& operation) {
  try {
    operation();
    return true;
  } catch (const Refusal&) {
    return false;
  }
}

}  // namespace

TEST_CASE("symbols: composition") {
  Random random{1};
  Tally tally;
  for (int round = 0; round < 1500; ++round) {
    Facts facts;
    Symbols symbols(random, facts);
    const Twin a = random.once_in(2) ? symbols.compact(random_shape(random, 1, 8))
                                     : symbols.twin(random_layout(random, 1, 8));
    const Twin b = random.once_in(2) ? symbols.compact(random_shape(random, 1, 8))
                                     : symbols.twin(random_layout(random, 1, 8));
    INFO(a.symbolic.to_string() << " o " << b.symbolic.to_string());
    INFO(a.known.to_string() << " o " << b.known.to_string());
    judge(
        facts, symbols, tally, [&] { return composition(facts, a.symbolic, b.symbolic); },
        [&](const Layout& r) { return composes(a.known, b.known, r); });
  }
  CHECK(tally.held > 400);
}

TEST_CASE("symbols: coalesce, complement, inverses") {
  Random random{2};
  Tally merged, complemented, right, left;
  for (int round = 0; round < 1000; ++round) {
    Facts facts;
    Symbols symbols(random, facts);
    const Twin a = random.once_in(2) ? symbols.compact(random_shape(random, 2, 8))
                                     : symbols.twin(random_layout(random, 2, 6));
    INFO(a.symbolic.to_string() << " is " << a.known.to_string());
    judge(
        facts, symbols, merged, [&] { return coalesce(facts, a.symbolic); },
        [&](const Layout& r) { return r.depth() <= 1 && same_function(a.known, r); });
    Facts plain;
    const int64_t target = random.in(1, 300);
    judge(
        facts, symbols, complemented,
        [&] { return complement(facts, a.symbolic, symbols.maybe(target)); },
        [&](const Layout& r) {
          return coalesce(plain, r) == coalesce(plain, complement(plain, a.known, target));
        });
    judge(
        facts, symbols, right, [&] { return right_inverse(facts, a.symbolic); },
        [&](const Layout& r) {
          for (int64_t i = 0; i < size(r).value(); ++i) {
            if (at(a.known, at(r, i)) != i) return false;
          }
          return same_function(r, right_inverse(plain, a.known));
        });
    judge(
        facts, symbols, left, [&] { return left_inverse(facts, a.symbolic); },
        [&](const Layout& r) {
          for (const int64_t v : values(a.known)) {
            if (at(a.known, at(r, v)) != v) return false;
          }
          return true;
        });
  }
  CHECK(merged.held == 1000);
  CHECK(right.held > 800);
  CHECK(right.refused == 0);
  CHECK(complemented.held > 300);
  CHECK(left.held > 300);
}

TEST_CASE("symbols: divides and products") {
  Random random{3};
  Tally divided, multiplied, tiled;
  for (int round = 0; round < 700; ++round) {
    Facts facts, plain;
    Symbols symbols(random, facts);
    const Twin a = symbols.compact(random_shape(random, 1, 12));
    const Twin t = symbols.compact(random_shape(random, 1, 4));
    INFO(a.symbolic.to_string() << " and " << t.symbolic.to_string());
    INFO(a.known.to_string() << " and " << t.known.to_string());
    judge(
        facts, symbols, divided, [&] { return logical_divide(facts, a.symbolic, t.symbolic); },
        [&](const Layout& r) {
          const Layout rest = complement(plain, t.known, coalesce(plain, a.known).shape);
          return composes(a.known, make_layout(std::vector<Layout>{t.known, rest}), r) ||
                 same_function(logical_divide(plain, a.known, t.known), r);
        });
    judge(
        facts, symbols, multiplied, [&] { return logical_product(facts, a.symbolic, t.symbolic); },
        [&](const Layout& r) {
          return same_function(logical_product(plain, a.known, t.known), r);
        });
    const Tiler modes = Tiler::of(product_each(t.symbolic.shape)),
                known = Tiler::of(product_each(t.known.shape));
    if (t.known.rank() > a.known.rank() || a.known.shape.is_leaf()) continue;
    judge(
        facts, symbols, tiled, [&] { return zipped_divide(facts, a.symbolic, modes); },
        [&](const Layout& r) { return same_function(zipped_divide(plain, a.known, known), r); });
  }
  CHECK(divided.held > 150);
  CHECK(multiplied.held > 300);
  CHECK(tiled.held > 200);
}

TEST_CASE("symbols: upcast and downcast") {
  Random random{4};
  Tally up, down;
  for (int round = 0; round < 1000; ++round) {
    Facts facts, plain;
    Symbols symbols(random, facts);
    const Twin a = symbols.twin(random_layout(random, 1, 16));
    const int64_t n = random.in(1, 4);
    INFO(a.symbolic.to_string() << " is " << a.known.to_string() << " by " << n);
    judge(
        facts, symbols, up, [&] { return upcast(facts, a.symbolic, n); },
        [&](const Layout& r) { return same_function(upcast(plain, a.known, n), r); });
    judge(
        facts, symbols, down, [&] { return downcast(facts, a.symbolic, n); },
        [&](const Layout& r) {
          return accepted([&] { downcast(plain, a.known, n); }) &&
                 size(r) == size(downcast(plain, a.known, n));
        });
  }
  CHECK(up.held > 400);
  CHECK(down.held > 300);
}

TEST_CASE("symbols: a downcast advises to assume a stride of 1 only where there can be one") {
  Facts facts;
  const Int M = facts.dim("M"), s = facts.dim("s");
  const auto refused = [&](const Int& stride) {
    try {
      downcast(facts, Layout(tuple(4, M), tuple(2, stride)), 2);
    } catch (const Refusal& r) {
      return r.code + ": " + r.help;
    }
    return std::string("given");
  };
  CHECK(refused(s) == "undecided: assume s == 1");
  CHECK(refused(2 * s) == "downcast: ");
  facts.assume(divides(s, 3));
  CHECK(refused(s) == "downcast: ");
}

TEST_CASE("symbols: the worked cases") {
  Facts facts;
  const Int M = facts.dim("M"), N = facts.dim("N"), K = facts.dim("K");
  facts.assume(both(divides(M, 128), divides(K, 64)));
  const Layout a(tuple(M, K), tuple(K, 1));
  GuardScope scope(facts);
  CHECK(zipped_divide(facts, a, Tiler::of(tuple(128, 64))).to_string() ==
        "((128,64),(M/128,K/64)):((K,1),(128*K,64))");
  CHECK(zipped_divide(facts, a, Tiler::of(tuple(96, 64))).to_string() ==
        "((96,64),(ceil_div(M,96),K/64)):((K,1),(96*K,64))");
  CHECK(coalesce(facts, Layout(tuple(192, M), tuple(1, 192))).to_string() == "192*M:1");
  CHECK(recast(facts, Layout(tuple(N), tuple(1)), 16, 32).to_string() == "(ceil_div(N,2),):(1,)");
  CHECK(recast(facts, Layout(tuple(16), tuple(1)), 16, 32).to_string() == "(8,):(1,)");
  CHECK(complement(facts, Layout(96, 1), M).to_string() == "ceil_div(M,96):96");
  CHECK(logical_divide(facts, Layout(M, 1), Tiler(32)).to_string() == "(32,M/32):(1,32)");
  CHECK(left_inverse(facts, make_layout(tuple(M, N))).to_string() == "M*N:1");
  CHECK(right_inverse(facts, make_layout_right(tuple(M, N))).to_string() == "(N,M):(M,1)");
  CHECK(scope.guards().empty());
  CHECK(composition(facts, Layout(tuple(2, 3), tuple(1, 2)), Layout(tuple(2, 3), tuple(3, 1)))
            .to_string() == "(2,3):(3,1)");
}

TEST_CASE("symbols: a product keeps the guards of the complement that it takes") {
  Facts facts;
  const Int M = facts.dim("M"), N = facts.dim("N"), lda = facts.dim("lda");
  GuardScope scope(facts);
  logical_product(facts, Layout(tuple(M, N), tuple(lda, 3)), Tiler(4));
  REQUIRE_FALSE(scope.guards().empty());
  const Binding wrong{{*M.dim_id(), 2}, {*N.dim_id(), 5}, {*lda.dim_id(), 7}};
  bool all = true;
  for (const Guard& guard : scope.guards()) all &= guard.predicate.evaluate(wrong) == true;
  CHECK_FALSE(all);
}

TEST_CASE("symbols: a coordinate of a value of a compact layout is guarded by its size") {
  const auto guard_of = [](int64_t value, bool permuted) {
    Facts facts;
    const Int M = facts.dim("M"), N = facts.dim("N");
    GuardScope scope(facts);
    const Layout a(tuple(M, N), permuted ? tuple(N, 1) : tuple(1, M));
    const Tuple at = get_flat_coord(facts, a, value);
    REQUIRE(scope.guards().size() == 1);
    const Binding sizes{{*M.dim_id(), 3}, {*N.dim_id(), 4}};
    CHECK(at[0].value().evaluate(sizes) == (permuted ? value / 4 : value % 3));
    CHECK(at[1].value().evaluate(sizes) == (permuted ? value % 4 : value / 3));
    return scope.guards()[0].to_string();
  };
  CHECK(guard_of(5, false) == "6 <= M*N");
  CHECK(guard_of(7, true) == "8 <= M*N");
}

TEST_CASE("symbols: shape_div guards once that one of two divides the other") {
  Facts facts;
  const Int M = facts.dim("M"), N = facts.dim("N");
  GuardScope scope(facts);
  shape_div(facts, tuple(M, N), 4);
  CHECK(scope.guards().size() == 2);
}

TEST_CASE("symbols: composition guards what is undecided") {
  Facts facts;
  const Int M = facts.dim("M"), N = facts.dim("N"), lda = facts.dim("lda");
  {
    GuardScope scope(facts);
    const Layout r = composition(facts, Layout(tuple(96, N), tuple(1, 100)), Layout(4, M));
    CHECK(r.to_string() == "4:25*M/24");
    REQUIRE(scope.guards().size() == 1);
    CHECK(scope.guards()[0].to_string() == "M % 96 == 0");
    CHECK(scope.guards()[0].breaks == Sizes{{"M", 1}});
  }
  {
    GuardScope scope(facts);
    CHECK(upcast(facts, Layout(tuple(M, 8), tuple(lda, 1)), 4).to_string() == "(M,2):(lda/4,1)");
    REQUIRE(scope.guards().size() == 1);
    CHECK(scope.guards()[0].to_string() == "lda % 4 == 0");
  }
  {
    GuardScope scope(facts);
    const Layout r = composition(facts, Layout(tuple(M, 4), tuple(1, 100)), Layout(N, lda));
    CHECK(r.to_string() ==
          "(min(N,ceil_div(M,lda)),ceil_div(N,ceil_div(M,lda))):(lda,100*ceil_div(lda,M))");
    REQUIRE(scope.guards().size() == 1);
    CHECK(scope.guards()[0].to_string() ==
          "N*lda - lda < M or M % lda == 0 and N % (ceil_div(M,lda)) == 0 or lda % M == 0");
  }
}

TEST_CASE("symbols: composition has one form for all sizes, through several modes too") {
  Facts facts;
  const Int A = facts.dim("A"), B = facts.dim("B"), n = facts.dim("n"), step = facts.dim("step");
  GuardScope scope(facts);
  const Layout a(tuple(A, B, 8), tuple(1, 100, 1000)), b(n, step);
  const Layout r = composition(facts, a, b);
  int held = 0, refused = 0;
  for (int64_t i = 0; i < 5 * 5 * 6 * 8; ++i) {
    const Binding sizes{{*A.dim_id(), 1 + i % 5},
                        {*B.dim_id(), 1 + i / 5 % 5},
                        {*n.dim_id(), 1 + i / 25 % 6},
                        {*step.dim_id(), 1 + i / 150}};
    std::map<DimId, Int> numbers;
    for (const auto& [id, value] : sizes) numbers[id] = value;
    bool all = true;
    for (const Guard& guard : scope.guards()) all &= guard.predicate.evaluate(sizes) == true;
    const Layout known_a = substitute(a, numbers), known_b = substitute(b, numbers);
    INFO(known_a.to_string() << " o " << known_b.to_string());
    if (all) REQUIRE(composes(known_a, known_b, substitute(r, numbers)));
    all ? ++held : ++refused;
  }
  CHECK(held > 500);
  CHECK(refused > 100);
}
