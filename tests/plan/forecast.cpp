// The forecast before a launch, against numbers worked out by hand.
#include "backend/plan/model/forecast.h"

#include <catch2/catch.hpp>

#include "backend/plan/make.h"
#include "backend/plan/model/predict.h"
#include "backend/plan/model/scalar.h"
#include "backend/plan/model/tile_traffic.h"
#include "backend/plan/print.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "tests/language/script.h"

using namespace lay;
using lay::sema::test::Script;
using plan::Forecast;

namespace {

// A machine of round numbers: a wgmma of 64 x 256 x 16 takes 128 clocks, a thread's products 128 a
// clock.
Target machine() {
  Target target = default_target();
  target.sms = 4;
  target.hertz = 1e9;
  target.memory_rate = 1e12;
  target.cache_rate = 1000;
  target.cache = 1e9;
  target.launch = 1e-6;
  return target;
}

struct Planned {
  plan::Plan plan;
  Binding sizes;

  const plan::Variant& first() const { return plan.variants.at(0); }
  std::vector<Forecast> launches(const Target& target) const {
    const auto all = plan::forecast(plan, first(), sizes, target);
    REQUIRE(all);
    return *all;
  }
  Forecast only(const Target& target) const {
    const auto all = launches(target);
    REQUIRE(all.size() == 1);
    return all[0];
  }
};

Planned planned(const std::string& text, std::map<std::string, std::int64_t> sizes,
                const Target& target = machine()) {
  const Script script(text);
  REQUIRE(script.messages == "");
  Planned made{plan::make_plan(script.evaluator.kernels().back(), target), {}};
  for (const auto& problem : made.plan.problems) FAIL(problem.message);
  for (const sema::Dim& dim : made.plan.kernel->dims)
    made.sizes[*dim.symbol.dim_id()] = sizes.at(dim.name);
  return made;
}

// The same kernel as it runs where no other family takes it.
Planned one_thread_an_element(Planned planned) {
  plan::Variant scalar;
  scalar.name = "scalar";
  scalar.programs = tile::bind_each_element(planned.plan.kernel);
  scalar.prediction = plan::predict_each_element(*planned.plan.kernel, scalar.programs, machine());
  planned.plan.variants = {std::move(scalar)};
  return planned;
}

const std::string kGemm =
    "use atoms.sm90\n"
    "kernel f<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1)) -> C: bf16 (M,N):(N,1)\n"
    "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n";

// Tiles of 128 x 256 by pairs of blocks, 256 x 256 a cluster.
std::string hopper(const std::string& more = "") {
  return "schedule f for sm90 { tile = (128,256,64)\n mma = sm90.wgmma(n = 256, ab = bf16, acc = "
         "f32)\n"
         " groups = (2,1,1,1)\n cluster = (2,1)\n" +
         more + " }\n";
}

}  // namespace

TEST_CASE("a K tile of Hopper: what a block loads, and how long it multiplies") {
  const auto made = planned(kGemm + hopper(), {{"M", 1024}, {"N", 1024}, {"K", 1024}});
  const auto& tile = made.first().prediction.tile;
  REQUIRE(tile);
  CHECK(tile->bytes ==
        (128 + 256 / 2) * 64 * 2);  // its rows of A, and half of B's, which the neighbour has too
  CHECK(tile->product_clocks ==
        4 * 2 * 128);  // four instructions of 16 along k, of each of two consumers
  CHECK(tile->cache_clocks == 32768.0 / (1000 / 4));  // a quarter of the cache's rate
  for (const auto& access : made.first().prediction.conflicts) {
    INFO(access.access);
    CHECK(access.wavefronts == access.least);
  }
}

TEST_CASE("a persistent grid of clusters: waves, bytes and the bound, worked out by hand") {
  // 4 x 4 tiles of 256 x 256; 2 clusters at once, so 8 waves, and 8 tiles one after the other.
  const auto made = planned(kGemm + hopper(), {{"M", 1024}, {"N", 1024}, {"K", 1024}});
  const Forecast of = made.only(machine());
  CHECK(of.tiles == 16);
  CHECK(of.live == 16);
  CHECK(of.at_once == 2);
  CHECK(of.waves() == 8);
  CHECK(of.most == 8);
  // 16 K tiles of 1024 clocks, 8 times.
  CHECK(of.products == Approx(8 * 16 * 1024 * 1e-9));
  // A tile loads 256 rows of A and of B, 1024 long: multicast halves what blocks would load
  // without.
  CHECK(of.cache_bytes == 16 * 2 * 256 * 1024 * 2 + 1024 * 1024 * 2);
  CHECK(of.cache == Approx(of.cache_bytes * 1e-12));
  CHECK(of.global_bytes == 3 * 1024 * 1024 * 2);  // the cache holds everything
  CHECK(of.least_global_bytes == of.global_bytes);
  CHECK(of.memory == Approx(of.global_bytes * 1e-12));
  CHECK(of.multiply_adds == 1024.0 * 1024 * 1024);
  CHECK(of.bottleneck() == "products");
  CHECK(of.seconds() == Approx(of.products + 1e-6));
}

TEST_CASE("what the cache does not hold comes again, in the order of the tiles") {
  // Panels of 256 x 1024 elements are 512 KiB. Orders of rows first: wave w has tiles (2w, 2w+1).
  const std::string known =
      "use atoms.sm90\n"
      "kernel f(A: bf16 (1024,1024):(1024,1), B: bf16 (1024,1024):(1024,1)) -> C: bf16 "
      "(1024,1024):(1024,1)\n"
      "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n";
  constexpr double panel = 256 * 1024 * 2, tile = 256 * 256 * 2, output = 1024 * 1024 * 2;
  const auto down = planned(known + hopper(" rasterization = (4,4):(1@0,1@1)\n"), {});
  Target small = machine();
  // A wave reads two panels of A and one of B and writes two tiles. If that is all that fits, the
  // next wave, of the other two rows, finds B's panel again; every second wave goes to the next
  // column.
  small.cache = 3 * panel + 2 * tile;
  CHECK(down.only(small).global_bytes == 8 * 2 * panel + 4 * panel + output);
  // With room for all of A, its panels and those of B come once.
  small.cache = 5 * panel + 8 * tile;
  CHECK(down.only(small).global_bytes == 8 * panel + output);
  // Not even one wave fits: nothing is found again.
  small.cache = 2 * panel;
  CHECK(down.only(small).global_bytes == 8 * 3 * panel + output);
  // Squares of 2 x 2 tiles, walked down: two waves share both panels of A, and each has a panel of
  // B.
  const auto square = planned(known + hopper(" rasterization = (2,2,2,2):(1@0,1@1,2@0,2@1)\n"), {});
  small.cache = 3 * panel + 2 * tile;
  CHECK(square.only(small).global_bytes == 4 * (2 + 2) * panel + output);
  CHECK(square.only(machine()).global_bytes == down.only(machine()).global_bytes);
}

TEST_CASE("edges are clipped: what lies outside is neither loaded nor counted") {
  const auto made = planned(kGemm + hopper(), {{"M", 264}, {"N", 264}, {"K", 72}});
  const Forecast of = made.only(machine());
  CHECK(of.tiles == 4);
  CHECK(of.most == 2);
  CHECK(of.products == Approx(2 * 2 * 1024 * 1e-9));  // whole tiles all the same, of two K tiles
  CHECK(of.cache_bytes == 2 * 2 * 264 * 72 * 2 + 264 * 264 * 2);
  CHECK(of.multiply_adds == 264.0 * 264 * 72);
}

TEST_CASE("tiles that a mask leaves no product are neither loaded nor multiplied, but written") {
  const auto made = planned(
      "use atoms.sm90\n"
      "kernel f<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1)) -> C: bf16 (M,N):(N,1)\n"
      "{ C[m,n] = if n <= m then sum[k](A[m,k] * B[n,k]) else 0.0 }\n" +
          hopper(),
      {{"M", 1024}, {"N", 1024}, {"K", 1024}});
  const Forecast of = made.only(machine());
  CHECK(of.tiles == 16);
  CHECK(of.live == 10);  // 1 + 2 + 3 + 4
  CHECK(of.cache_bytes == 10 * 2 * 256 * 1024 * 2 + 1024 * 1024 * 2);
  CHECK(of.waves() == 5);
  CHECK(of.most >= 5);
  CHECK(of.most < 8);
  CHECK(of.multiply_adds == 10 * 256.0 * 256 * 1024);
}

TEST_CASE("blocks that share K, ping-pong consumers and swapped operands") {
  const auto split = planned(
      kGemm +
          "schedule f for sm90 { tile = (64,64,64)\n mma = sm90.wgmma(n = 64, ab = bf16, acc = "
          "f32)\n cluster = (1,1,2) }\n",
      {{"M", 128}, {"N", 128}, {"K", 1024}});
  const Forecast halves = split.only(machine());
  CHECK(halves.at_once == 2);
  CHECK(halves.tiles == 4);
  CHECK(halves.most == 2);
  const double instruction = split.first().prediction.tile->product_clocks / 4;
  CHECK(halves.products == Approx(2 * 8 * 4 * instruction * 1e-9));  // 8 of the 16 K tiles
  CHECK(halves.cache_bytes == 4 * (64 + 64) * 1024 * 2 + 128 * 128 * 2);

  const auto turns = planned(
      kGemm +
          "schedule f for sm90 { tile = (64,256,64)\n mma = sm90.wgmma(n = 256, ab = bf16, acc = "
          "f32)\n groups = (1,1,1,2) }\n",
      {{"M", 512}, {"N", 512}, {"K", 1024}});
  const Forecast two = turns.only(machine());
  CHECK(two.at_once == 8);  // two tiles of each of 4 SMs
  CHECK(two.tiles == 16);
  CHECK(two.waves() == 2);
  CHECK(two.most == 4);
  CHECK(two.products == Approx(4 * 16 * 4 * 128 * 1e-9));

  const auto swapped = planned(kGemm +
                                   "schedule f for sm90 { tile = (64,16,64)\n mma = sm90.wgmma(n = "
                                   "16, ab = bf16, acc = f32)\n swap_ab = 1 }\n",
                               {{"M", 16}, {"N", 128}, {"K", 1024}});
  const Forecast of = swapped.only(machine());
  CHECK(of.tiles == 2);  // 128 columns are two times the instruction's rows
  CHECK(of.cache_bytes == 2 * (64 + 16) * 1024 * 2 + 16 * 128 * 2);
}

TEST_CASE("factors that are copied first: a launch of its own before") {
  const auto made = planned(kGemm + hopper(), {{"M", 1024}, {"N", 1024}, {"K", 1001}});
  const plan::Variant* copying = nullptr;
  for (const plan::Variant& variant : made.plan.variants)
    if (!copying && variant.before.size() == 1 && variant.name == "sm90_repack_A_B")
      copying = &variant;
  REQUIRE(copying);
  Target target = machine();
  target.cache_rate = 4000;
  const auto all = plan::forecast(made.plan, *copying, made.sizes, target);
  REQUIRE(all);
  REQUIRE(all->size() == 2);
  CHECK(all->at(0).global_bytes == 2 * 2 * 1024 * 1001 * 2);  // both read and written
  CHECK(all->at(0).bottleneck() == "global memory");
  CHECK(all->at(0).products == 0);
  CHECK(all->at(1).cache_bytes == 16 * 2 * 256 * 1001 * 2 + 1024 * 1024 * 2);
}

TEST_CASE("warps of compute capability 8 and the CUDA cores: a tile a block") {
  const Target a100 = *find_target("a100");
  const auto sm80 = planned(kGemm +
                                "schedule f for sm80 { tile = (128,128,32)\n mma = sm80.mma(m = "
                                "16, k = 16, ab = bf16, acc "
                                "= f32)\n groups = (2,2,1,1)\n stages = 3 }\n",
                            {{"M", 1280}, {"N", 1280}, {"K", 1024}}, a100);
  const Forecast of = sm80.only(a100);
  CHECK(of.tiles == 100);
  CHECK(of.most == 1);  // of 108 SMs
  // 128 * 128 * 32 products at 1024 a clock, 32 times.
  CHECK(of.products == Approx(128 * 128 * 32 / 1024.0 * 32 / 1.41e9));
  CHECK(of.cache_bytes == 2.0 * 10 * 1280 * 1024 * 2 + 1280 * 1280 * 2);
  CHECK(of.global_bytes == 3 * 1280.0 * 1280 * 2 - 2.0 * 1280 * 256 * 2);

  const auto simt = planned(
      "kernel f<M, N, K>(A: f32 (M,K):(K,1), B: f32 (N,K):(K,1), bias: f32 N:1) -> C: f32 "
      "(M,N):(N,1)\n"
      "{ C[m,n] = sum[k](A[m,k] * B[n,k]) + bias[n] }\n"
      "schedule f for simt { tile = (64,64,16)\n groups = (2,2,1,1) }\n",
      {{"M", 256}, {"N", 256}, {"K", 64}});
  const Forecast plain = simt.only(machine());
  CHECK(plain.tiles == 16);
  CHECK(plain.most == 4);
  CHECK(plain.products == Approx(4 * 64 * 64 * 64 / 128.0 * 1e-9));
  CHECK(plain.cache_bytes ==
        2 * 4 * 256 * 64 * 4 + 256 * 256 * 4 + 4 * 256 * 4);  // the bias once a row of tiles
  CHECK(plain.least_global_bytes == 2 * 256 * 64 * 4 + 256 * 256 * 4 + 256 * 4);
  CHECK(plain.bottleneck() == "products");
}

TEST_CASE("permute kernels and single elements move everything once") {
  const auto pingpong =
      planned("kernel f<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (N,M):(M,1) { Y[i,j] = X[j,i] }\n",
              {{"M", 4096}, {"N", 4096}});
  const Forecast of = pingpong.only(machine());
  CHECK(of.global_bytes == 2.0 * 4096 * 4096 * 4);
  CHECK(of.memory == Approx(2.0 * 4096 * 4096 * 4 * 1e-12));
  CHECK(of.multiply_adds == 0);
  CHECK(of.bottleneck() == "L2");  // 1000 bytes a clock are as many a second as memory has
  Target target = machine();
  target.cache_rate = 4000;
  CHECK(pingpong.only(target).bottleneck() == "global memory");
  const auto tiny =
      planned("kernel f<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (N,M):(M,1) { Y[i,j] = X[j,i] }\n",
              {{"M", 8}, {"N", 8}});
  CHECK(tiny.only(target).bottleneck() == "the launch");

  const auto direct = planned(
      "kernel f<M, K>(A: f32 (M,K):(K,1), x: f32 K:1) -> y: f32 M:1 { y[m] = sum[k](A[m,k] * x[k]) "
      "}\nschedule f for simt { threads = ((32,8),(4,4)):((4@1,4@0),(1@1,1@0)) }\n",
      {{"M", 1024}, {"K", 512}});
  const Forecast row = direct.only(machine());
  CHECK(row.tiles == 32);  // of 32 rows
  CHECK(row.multiply_adds == 1024 * 512);
  CHECK(row.products == Approx(1024 * 512 / (128 * 4 * 1e9)));
}

TEST_CASE("sums inside sums are counted as their loops run") {
  const auto nested = one_thread_an_element(planned(
      "kernel f<M, I, J, K>(A: f32 (M,I):(I,1), B: f32 (I,J):(J,1), C: f32 (J,K):(K,1)) -> y: f32 "
      "M:1 { y[m] = sum[i](A[m,i] * sum[j](B[i,j] * sum[k](C[j,k]))) }\n",
      {{"M", 7}, {"I", 5}, {"J", 3}, {"K", 11}}));
  // By loops as plain as the kernel's text.
  double steps = 0, least = 7 * 5 + 5 * 3 + 3 * 11, warp = 0, each = 0;
  for (int m = 0; m < 7; ++m)
    for (int i = 0; i < 5; ++i, ++steps, ++each)    // A[m,i]: another address for each lane
      for (int j = 0; j < 3; ++j, ++steps, ++warp)  // B[i,j]: one address for a warp
        for (int k = 0; k < 11; ++k, ++steps, ++warp) {
        }  // C[j,k]
  const Forecast made = nested.only(machine());
  CHECK(made.multiply_adds == steps);
  const plan::ScalarWork work = plan::scalar_work(*nested.plan.kernel);
  const auto value = [&](const Int& amount) {
    return static_cast<double>(amount.evaluate(nested.sizes).value());
  };
  CHECK(value(work.least_flops) == 2 * least);
  CHECK(value(work.loaded_bytes) >= 4 * (each + warp / 32));
  CHECK(value(work.loaded_bytes) <= 4 * (each + warp / 32) + 2);

  // A sum over other elements than the output's, computed for each of them: as many times too slow
  // as the row is long.
  const auto softmax = one_thread_an_element(planned(
      "kernel f<M, N, J>(X: f32 (M,N):(N,1), Z: f32 (M,J):(J,1)) -> Y: f32 (M,N):(N,1) { Y[m,n] = "
      "exp(X[m,n]) / sum[j](exp(Z[m,j])) }\n",
      {{"M", 1024}, {"N", 1024}, {"J", 1024}}));
  CHECK(softmax.only(machine()).multiply_adds == 1024.0 * 1024 * 1024);
  CHECK(plan::scalar_slowdown(softmax.plan, *find_target("h200"), {{"", 4096}}).value() > 30);

  // Weights of a few experts that every row reads, by tensor cores if they took sums in an order
  // from memory: with as many experts as rows each weight is read once.
  const auto grouped = planned(
      "kernel f<T, E, N, K>(X: bf16 (T,K), start: s32 (E + 1), order: s32 K, W: bf16 (E,N,K)) -> "
      "Y: bf16 (T,N) {\n"
      "  let expert[t] = segment_of[e](start[e], t)\n"
      "  Y[t,n] = sum[k](X[t,k] * W[expert[t],n,order[k]])\n}\n",
      {{"T", 64}, {"E", 4}, {"N", 64}, {"K", 64}});
  const Target& h200 = *find_target("h200");
  const auto slowdown = [&](std::map<std::string, std::int64_t> sizes) {
    return plan::scalar_slowdown(grouped.plan, h200, std::move(sizes)).value();
  };
  const auto worst = plan::worst_scalar_slowdown(grouped.plan, h200);
  REQUIRE((worst && worst->small));
  CHECK(worst->small->first == "E");
  CHECK(worst->factor > 20);
  CHECK(worst->factor == slowdown({{"", 4096}, {"E", 16}}));
  CHECK(worst->factor > 2 * slowdown({{"", 4096}}));

  const auto copy =
      planned("kernel f<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (M,N):(N,1) { Y[m,n] = X[m,n] }\n",
              {{"M", 64}, {"N", 64}});
  CHECK(!plan::scalar_slowdown(copy.plan, *find_target("h200"), {{"", 4096}}));
}

// Rows of tests/bench/results/hopper.txt: no kernel was faster than its forecast, and none of the
// large ones took twice as long.
TEST_CASE("what was measured on an H200 is no less than the forecast") {
  struct Row {
    std::int64_t m, n, k;
    double microseconds;
  };
  for (const Row& row : {Row{4096, 4096, 4096, 202.92},
                         {8192, 8192, 512, 126.47},
                         {16, 4096, 4096, 11.94},
                         {64, 14336, 4096, 31.76},
                         {1, 4096, 14336, 32.68},
                         {1, 14336, 4096, 32.99},
                         {128, 14336, 4096, 35.93}}) {
    INFO(row.m << " x " << row.n << " x " << row.k);
    const auto made = planned(kGemm, {{"M", row.m}, {"N", row.n}, {"K", row.k}}, default_target());
    const auto taken = plan::fitting_variants(made.plan, made.sizes);
    REQUIRE(!taken.empty());
    const auto all = plan::forecast(made.plan, *taken.front(), made.sizes, default_target());
    REQUIRE(all);
    REQUIRE(all->size() == 1);
    CHECK(1e6 * all->front().seconds() <= row.microseconds);
    CHECK(2 * 1e6 * all->front().seconds() >= row.microseconds);
  }
}

TEST_CASE(
    "a bound is hardly above what costs say, and sizes that are missing leave nothing to say") {
  for (const std::int64_t size : {512, 1000, 4096, 8192}) {
    const Target h200 = default_target();
    const auto made = planned(kGemm, {{"M", size}, {"N", size}, {"K", size}}, h200);
    const double least =
        plan::seconds_of_cost(plan::fitting(made.plan, made.sizes).front().cost, h200);
    for (const plan::Variant& variant : made.plan.variants) {
      const bool holds =
          std::all_of(variant.when.begin(), variant.when.end(),
                      [&](const Predicate& p) { return p.evaluate(made.sizes) == true; });
      if (!holds || !plan::is_sm90(variant)) continue;
      INFO(variant.name << " at " << size);
      const auto all = plan::forecast(made.plan, variant, made.sizes, h200);
      REQUIRE(all);
      double seconds = 0;
      for (const Forecast& launch : *all) seconds += launch.seconds();
      // Costs count what a launch takes beside another, bounds its own time; and costs of rows that
      // lose by far are no more than near.
      if (!all->back().cost) continue;
      const bool loses_by_far = *all->back().cost > 4 * least;
      CHECK(all->back().seconds() - h200.launch < (loses_by_far ? 1.2 : 1.15) * *all->back().cost);
      CHECK(all->back().global_bytes <= all->back().cache_bytes);
    }
  }
  auto made = planned(kGemm, {{"M", 64}, {"N", 64}, {"K", 64}});
  made.sizes.clear();
  CHECK(!plan::forecast(made.plan, made.first(), made.sizes, machine()));
  CHECK(plan::forecast_lines(made.plan, made.first(), made.sizes, machine()).size() == 2);
}

// The terms of what is expected, worked out by hand on the machine of round numbers.
TEST_CASE("what a launch is expected to take: rates that are reached, power, and costs") {
  Target target = machine();
  target.cache_rate = 4000;
  target.memory_share = 0.8;
  target.element_access = 0;
  const auto copy =
      planned("kernel f<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (M,N):(N,1) { Y[i,j] = 2 * X[i,j] }\n",
              {{"M", 4096}, {"N", 4096}});
  const Forecast of_copy = copy.only(target);
  CHECK(of_copy.expected() == Approx(1e-6 + of_copy.memory / 0.8));
  // Accesses of 16 bytes: 2 * 4096 * 4096 / 4 of them, of 1000 instructions each.
  target.element_access = 1000;
  CHECK(copy.only(target).issued == Approx(2.0 * 4096 * 4096 / 4 * 1000 / (128 * 4 * 1e9)));
  CHECK(copy.only(target).expected() == Approx(1e-6 + copy.only(target).issued));
  target.element_access = 0;

  // A script's own schedule has no cost: 4 SMs at half of 2048 multiply-adds a clock.
  target.sustained = 0.5;
  const auto product = planned(kGemm + hopper(), {{"M", 1024}, {"N", 1024}, {"K", 1024}});
  const Forecast of = product.only(target);
  CHECK(!of.cost);
  CHECK(of.sustained == Approx(1024.0 * 1024 * 1024 / (4 * 1e9 * 1024)));
  CHECK(of.expected() == Approx(1e-6 + of.sustained));
  CHECK(of.expected() > of.seconds());
  target.sustained = 1;
  CHECK(product.only(target).expected() == Approx(1e-6 + of.products));
  // A cost counts where it is longer, and a mask leaves a part of it.
  Forecast costs = of;
  costs.cost = 1;
  CHECK(costs.expected() == 1);
  costs.live_share = 0.5;
  CHECK(costs.expected() == Approx(0.5 + 0.5e-6));
  costs.cost = 0;
  CHECK(costs.expected() == of.expected());
}

TEST_CASE("chained products are forecast by the tiles of columns that a mask leaves") {
  const auto attention = [](const std::string& score, std::int64_t s) {
    return planned(
        "kernel f<B, S>(Q: bf16 (B,S,128), K: bf16 (B,S,128), V: bf16 (B,S,128)) -> O: bf16 "
        "(B,S,128) {\n"
        "  let weight[b,i,j] = softmax[j](" +
            score + ")\n  O[b,i,d] = sum[j](bf16(weight[b,i,j]) * V[b,j,d])\n}\n",
        {{"B", 8}, {"S", s}});
  };
  const std::string score = "sum[e](Q[b,i,e] * K[b,j,e])";
  const std::string causal = "if j <= i then " + score + " else -inf";
  for (const std::int64_t s : {512, 1000, 4096}) {
    INFO("S = " << s);
    const auto full = attention(score, s), masked = attention(causal, s);
    const tile::Program& program = masked.first().programs.front();
    const std::int64_t rows = program.axis(tile::row_axis).tile,
                       columns = program.axis(tile::column_axis).tile;
    // By loops as plain as the mask.
    std::int64_t live = 0, tiles = 0;
    for (std::int64_t m = 0; m < s; m += rows)
      for (std::int64_t n = 0; n < s; n += columns) {
        ++tiles;
        live += n <= std::min(m + rows, s) - 1;
      }
    const Forecast of_full = full.only(machine()), of_masked = masked.only(machine());
    CHECK(of_masked.tiles == of_full.tiles);
    CHECK(of_masked.products <
          of_full.products * (static_cast<double>(live) / static_cast<double>(tiles) + 0.01));
    CHECK(of_masked.multiply_adds ==
          Approx(of_full.multiply_adds * static_cast<double>(live) / static_cast<double>(tiles)));
    CHECK(of_masked.expected() > of_masked.seconds());
    CHECK(of_masked.expected() < of_full.expected());
  }
}
