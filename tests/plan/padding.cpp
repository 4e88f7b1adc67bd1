// The law of padding that every row of stdlib/policies/sm90.lay keeps: of the tiles that a cluster
// covers, more than half is work, and a split of K leaves no block without work.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "backend/plan/make.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/target/target.h"
#include "frontend/sema/library.h"
#include "tests/language/script.h"
#include "tests/plan/policy_rows.h"

namespace lay::test {
namespace {

using sema::Policy;

struct Sizes {
  std::int64_t m, n, k, batches;
};

bool holds(const Predicate& condition, const Sizes& s) {
  return sema::under(condition, {s.m, s.n, s.k, s.batches, 132}).is_always();
}

std::optional<std::int64_t> cost_at(const Policy& row, const Sizes& s) {
  const auto cost = cost_under(row, {s.m, s.n, s.k, s.batches, 132});
  if (!cost) return std::nullopt;
  REQUIRE(cost->is_literal());
  CHECK(cost->value() > 0);
  return cost->value();
}

// The row that a launch of these sizes takes: the first whose condition holds; where that one has a
// cost, of those behind it without a gap the one of least cost.
const Policy& taken(const std::vector<Policy>& rows, const Sizes& s) {
  const Policy* best = nullptr;
  std::optional<std::int64_t> least;
  for (const Policy& row : rows) {
    const auto cost = cost_at(row, s);
    if (best && !cost) break;
    if (!holds(row.when, s) || (best && *cost >= *least)) continue;
    best = &row;
    least = cost;
    if (!cost) break;
  }
  REQUIRE(best);
  return *best;
}

// At least half of a cluster's tiles is no work; tiles of up to `least` always are.
bool padded(std::int64_t extent, std::int64_t tile, std::int64_t least) {
  return tile > least && tile - extent >= extent;
}

// The axes along which a row breaks the law at these sizes: "" where it breaks it along none.
std::string faults(const Policy& row, const Sizes& s) {
  auto tile = numbers(row, "tile");
  auto cluster = numbers(row, "cluster");
  // The rows of a swapped tile, and of its cluster, lie along N.
  if (numbers(row, "swap_ab") == std::vector<std::int64_t>{1}) {
    std::swap(tile[0], tile[1]);
    std::swap(cluster[0], cluster[1]);
  }
  const std::int64_t rows = tile[0] * cluster[0], columns = tile[1] * cluster[1];
  std::string axes;
  if (padded(s.m, rows, 64)) axes += "m";
  if (padded(s.n, columns, 128)) axes += "n";
  if (cluster.size() == 3 && padded(s.k, tile[2] * cluster[2], tile[2])) axes += "k";
  return axes;
}

// Sizes whose logarithms are uniform, most of them multiples of 8.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  Sizes next() {
    const std::int64_t batches = random_() % 2 == 0 ? 1 : number(1, 4096, 1);
    return {number(1, 16384, 1), number(8, 16384, 8), number(16, 16384, 8), batches};
  }

 private:
  std::int64_t number(double least, double most, std::int64_t step) {
    std::uniform_real_distribution<double> exponent(std::log(least), std::log(most));
    const auto drawn = static_cast<std::int64_t>(std::exp(exponent(random_)));
    const std::int64_t taken = random_() % 5 == 0 ? 1 : step;
    return std::max(taken, drawn / taken * taken);
  }

  std::mt19937 random_;
};

std::vector<sema::ProductKind> kinds() {
  const auto bf16 = ElementType::bf16, f32 = ElementType::f32, e4m3 = ElementType::e4m3,
             s8 = ElementType::s8, s32 = ElementType::s32;
  sema::ProductKind batched{bf16, bf16, f32}, across{bf16, bf16, f32}, parts{e4m3, e4m3, f32};
  batched.batched = true;
  across.a_along_k = across.b_along_k = false;
  parts.in_parts = true;
  return {{bf16, bf16, f32},
          {bf16, bf16, f32, 1},
          {bf16, bf16, f32, 0, true},
          {bf16, bf16, f32, 0, false, 32},
          {s8, s8, s32, 0, false, 32},
          batched,
          across,
          parts};
}

}  // namespace

TEST_CASE("no row of the library is mostly padding where it is taken") {
  const unsigned seed = 23;
  CAPTURE(seed);
  for (const sema::ProductKind& kind : kinds()) {
    const std::vector<Policy> rows = sema::library_policies("sm90", kind);
    Draw draw(seed);
    for (int round = 0; round < 150; ++round) {
      const Sizes s = draw.next();
      const Policy& row = taken(rows, s);
      CAPTURE(row.name, s.m, s.n, s.k, s.batches, element_name(kind.a), kind.batched);
      CHECK(faults(row, s) == "");
    }
  }
}

TEST_CASE("every size finds a row in tiles of 64 x 64") {
  for (const sema::ProductKind& kind : kinds()) {
    const std::vector<Policy> rows = sema::library_policies("sm90", kind);
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [](const Policy& each) { return each.name == "64x64"; });
    REQUIRE(row != rows.end());
    CHECK(row->elements);
    CHECK(row->when.is_always());
    CHECK(cost_at(*row, {1, 1, 1, 1}));
    CHECK(cost_at(*row, {1, 100'000, 1, 1}));
  }
}

// Batches with one tile along N, and batches of a K that one tile holds; beside them sizes to which
// the law has nothing to say.
TEST_CASE("many batches take tiles of their own size") {
  sema::ProductKind kind{ElementType::bf16, ElementType::bf16, ElementType::f32};
  kind.batched = true;
  const std::vector<Policy> rows = sema::library_policies("sm90", kind);
  const auto name = [&](const Sizes& s) { return taken(rows, s).name; };
  CHECK(name({1024, 128, 4096, 128}) == "128x128_2x1");
  CHECK(name({1024, 256, 4096, 128}) == "256x128_1x2");
  CHECK(name({128, 128, 4096, 256}) == "128x128");
  CHECK(name({16, 128, 128, 4096}) == "24x64");
  CHECK(name({8, 128, 256, 4096}) == "8x128");
  CHECK(name({16, 128, 512, 4}) == "16x64");
  CHECK(name({64, 64, 64, 8}) == "64x32");
  CHECK(name({64, 64, 4096, 8}) == "64x32_1x2x4");
}

TEST_CASE("heads of 128 columns are planned in tiles of 128 columns") {
  const sema::test::Script script(
      "kernel f<B, S>(X: bf16 (B,S,4096), W: bf16 (32,128,4096)) -> Y: bf16 (B,32,S,128) "
      "{ Y[b,h,s,d] = sum[k](X[b,s,k] * W[h,d,k]) }\n");
  REQUIRE(script.messages == "");
  const plan::Plan plan = plan::make_plan(script.evaluator.kernels().back(), *find_target("h200"));
  REQUIRE(plan.problems.empty());
  bool wide = false;
  for (const plan::Variant& variant : plan.variants) {
    const auto gemm = plan::sm90_of(variant);
    if (!gemm) continue;
    INFO(variant.name);
    const std::size_t columns = gemm->swap_ab ? 0 : 1;
    CHECK(gemm->tile[columns] * gemm->cluster[columns] < 256);
    wide = wide || gemm->tile[1] == 128;
  }
  CHECK(wide);
}

}  // namespace lay::test
