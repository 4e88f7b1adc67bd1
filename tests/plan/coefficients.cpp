// The coefficients of costs: they belong to a GPU, reach the policies as numbers, and stand in Lay
// alone (frontend/sema/coefficients.h, frontend/sema/library.h).
#include "frontend/sema/coefficients.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backend/plan/make.h"
#include "backend/plan/print.h"
#include "backend/target/target.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/library.h"
#include "tests/language/script.h"
#include "tests/plan/policy_rows.h"

namespace lay::test {
namespace {

using enum ElementType;

sema::Coefficients with(const std::string& name, std::int64_t number) {
  sema::Coefficients costs = default_target().costs;
  for (sema::Coefficient& each : costs)
    if (each.name == name) each.numbers.front() = number;
  return costs;
}

std::vector<std::pair<std::string, sema::ProductKind>> kinds() {
  sema::ProductKind fused{bf16, bf16, f32}, across{bf16, bf16, f32}, on_threads{f32, f32, f32};
  fused.arithmetic = 9;
  fused.inputs = true;
  fused.stored = 32;
  across.a_along_k = across.b_along_k = false;
  across.batched = true;
  on_threads.b_along_k = false;
  return {{"sm90", {bf16, bf16, f32}}, {"sm90", fused}, {"sm90", across}, {"simt", on_threads}};
}

std::string printed(const sema::KernelPtr& kernel, const Target& target) {
  return plan::print_plan(plan::make_plan(kernel, target));
}

}  // namespace

TEST_CASE("coefficients: every GPU of the library has them, by the same names") {
  const sema::Coefficients& usual = default_target().costs;
  REQUIRE(usual.size() > 20);
  for (const Target& target : targets()) {
    REQUIRE(target.costs.size() == usual.size());
    for (std::size_t i = 0; i < usual.size(); ++i) {
      CHECK(target.costs[i].name == usual[i].name);
      CHECK(target.costs[i].numbers.size() == usual[i].numbers.size());
    }
  }
  CHECK(sema::coefficients_text({{"row", {59}}, {"missing", {0, 5}, true}, {"one", {3}, true}}) ==
        "cost_coefficients(row = 59, missing = (0,5), one = (3,))");
}

TEST_CASE("coefficients: a GPU's own change its plans and no other GPU's") {
  const sema::test::Script script(
      "kernel tt<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1)) -> C: bf16 (M,N):(N,1)\n"
      "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n"
      "kernel exact<M, N, K>(A: f32 (M,K):(K,1), B: f32 (N,K):(K,1)) -> C: f32 (M,N):(N,1)\n"
      "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n");
  REQUIRE(script.messages == "");
  for (const auto& [at, name] : {std::pair{0, "tile"}, std::pair{1, "sm_turn"}}) {
    const sema::KernelPtr kernel = script.evaluator.kernels().at(static_cast<std::size_t>(at));
    const std::string before = printed(kernel, default_target());
    Target mine = default_target();
    mine.costs = with(name, 4567);
    CHECK(printed(kernel, mine) != before);
    CHECK(printed(kernel, default_target()) == before);
    mine.costs = default_target().costs;
    CHECK(printed(kernel, mine) == before);
  }
}

TEST_CASE("coefficients: each of them is in some cost") {
  // Costs of bytes that registers widen are of no space.
  sema::ProductKind bytes{bf16, s8, f32}, usual{bf16, bf16, f32}, by_warps{s8, s8, s32},
      by_warps_in_f64{f64, f64, f64};
  by_warps.capability = by_warps_in_f64.capability = 80;
  // Rows inside lines, and whole ones.
  const std::vector<sema::ProblemSize> sizes{{1000, 1000, 5000, 1, 132},
                                             {1024, 1024, 4096, 1, 132}};
  const auto costs_of = [&](const std::string& family, sema::ProductKind kind,
                            const sema::Coefficients& costs) {
    kind.costs = costs;
    std::vector<std::int64_t> all;
    for (const sema::Policy& row : sema::library_policies(family, kind))
      for (const sema::ProblemSize& size : sizes)
        if (const auto cost = cost_under(row, size)) all.push_back(cost->value());
    return all;
  };
  for (const sema::Coefficient& each : default_target().costs) {
    if (each.is_tuple) continue;
    INFO(each.name);
    const sema::Coefficients changed = with(each.name, 2 * each.numbers.front() + 8);
    bool matters = false;
    auto asked = kinds();
    asked.emplace_back("sm90", bytes);
    asked.emplace_back("sm80", by_warps);
    asked.emplace_back("sm80", by_warps_in_f64);
    for (const auto& [family, kind] : asked)
      matters = matters ||
                costs_of(family, kind, changed) != costs_of(family, kind, default_target().costs);
    CHECK(matters);
  }
  usual.costs = default_target().costs;
  CHECK(costs_of("sm90", usual, {}) == costs_of("sm90", usual, default_target().costs));
}

// Fits evaluate expressions over the coefficients, plans for known sizes numbers: the slow path is
// the library asked again for each set of coefficients.
TEST_CASE("coefficients: costs over them are the costs of a GPU that has these numbers") {
  std::mt19937 random(5);
  for (const auto& [family, kind] : kinds()) {
    sema::CostTerms terms(family, default_target().costs);
    for (int turn = 0; turn < 3; ++turn) {
      sema::ProductKind own = kind;
      own.costs = default_target().costs;
      for (sema::Coefficient& each : own.costs)
        if (!each.is_tuple && turn > 0)
          each.numbers.front() += static_cast<std::int64_t>(random() % 90);
      const auto extent = [&] { return 8 * (1 + static_cast<std::int64_t>(random() % 500)); };
      const sema::ProblemSize size{extent(), extent(), extent(), kind.batched ? 3 : 1, 132};
      const auto rows = sema::library_space(family, own, size);
      REQUIRE(rows.size() > 30);
      for (std::size_t at = 0; at < rows.size(); at += 1 + rows.size() / 20) {
        const Int cost = terms.of(kind, rows[at], size);
        Binding numbers;
        for (const auto& [dim, which] : sema::CostTerms::coefficients_in(cost, own.costs))
          numbers[dim] = own.costs[which].numbers.front();
        CHECK(numbers.size() > 3);
        INFO(family << " " << rows[at].tile.to_string());
        const auto clocks = cost.evaluate(numbers);
        REQUIRE(clocks);
        // As the space prices what is drawn.
        CHECK(21 * *clocks / 20 == rows[at].cost);
      }
    }
  }
}

namespace {

std::string file_of(const std::string& device, const std::string& costs) {
  return "use targets.gpu\nlet measured = (measured_gpu(device = \"" + device +
         "\", capability = 90, sms = 130, hertz = 1.5e9, memory_rate = 3e12, cache_rate = 5600, "
         "launch = 2e-6, costs = " +
         costs + "),)\n";
}

std::string refused(const std::string& text) {
  sema::add_library("user.target_test", "mine.lay", text);
  try {
    measured_gpus_of("user.target_test");
  } catch (const Refusal& refusal) {
    return refusal.message;
  }
  return "";
}

}  // namespace

TEST_CASE("measured GPUs: they stand for devices of their name alone") {
  const std::string name = "NVIDIA H100 80GB HBM3";
  const Target usual = *target_of(name, 90, 132);
  sema::add_library("user.target_test", "mine.lay",
                    file_of(name, sema::coefficients_text(with("row", 81))));
  set_measured_gpus(measured_gpus_of("user.target_test"));
  const Target mine = *target_of(name, 90, 132);
  CHECK(mine.costs == with("row", 81));
  CHECK(mine.hertz == 1.5e9);
  CHECK(mine.memory_rate == 3e12);
  CHECK(mine.cache_rate == 5600);
  CHECK(mine.launch == 2e-6);
  CHECK(mine.sms == 132);  // the device's own
  CHECK(mine.name == usual.name);
  CHECK(mine.rates == usual.rates);
  REQUIRE(measured_target(name));
  CHECK(measured_target(name)->sms == 130);
  CHECK(!measured_target("NVIDIA H100 PCIe"));
  CHECK(target_of("NVIDIA H100 PCIe", 90, 114)->costs == find_target("h100_pcie")->costs);
  CHECK(target_of("NVIDIA H200", 90, 132) == default_target());
  CHECK(*find_target("h100") == usual);
  set_measured_gpus({});
  CHECK(*target_of(name, 90, 132) == usual);
}

TEST_CASE("measured GPUs: what is wrong with a file is said") {
  const std::string costs = sema::coefficients_text(default_target().costs);
  CHECK(refused(file_of("a", costs)) == "");
  CHECK(refused("let measured = ()\n") == "");
  CHECK(refused("dim M\n").starts_with("mine.lay: "));
  CHECK(refused("let measured = 3\n") == "mine.lay: measured is an integer, not a list of records");
  const auto says = [](const std::string& message, const std::string& end) {
    INFO(message);
    CHECK(message.starts_with("mine.lay: the record "));
    CHECK(message.ends_with(end));
    CHECK(message.size() < 200);
  };
  says(refused("use targets.gpu\nlet measured = (fitted_on_h200,)\n"), ": it has no field device");
  says(refused(file_of("a", "8")), ": its costs is a record, not an integer");
  const auto wrong = [&](const std::string& from, const std::string& to) {
    std::string text = costs;
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return refused(file_of("a", text.replace(at, from.size(), to)));
  };
  says(wrong("row = 59", "row = -59"),
       ": of its costs: its row is -59, not an integer from 0 to 1048576");
  says(wrong("row = 59", "row = (5,9)"), ": its costs' row is (5,9), expected an integer");
  says(wrong("missing = (0,0,5,3,4,5,3,2)", "missing = (0,0)"),
       ": its costs' missing is (0,0), expected 8 integers");
  CHECK(wrong("row = 59", "row = 1.5").find("its row is") != std::string::npos);
  CHECK(wrong("row = 59, ", "") != "");
}

}  // namespace lay::test
