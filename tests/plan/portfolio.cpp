// Schedules with a cost: of neighbours that take a launch the one of least cost is launched.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backend/plan/make.h"
#include "backend/plan/print.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/target/target.h"
#include "tests/language/script.h"

namespace lay::test {
namespace {

// A transposition, whose schedules are read and planned in no time.
plan::Plan planned(const std::string& schedules) {
  const sema::test::Script script(
      "kernel turn<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (N,M):(M,1) { Y[n,m] = X[m,n] }\n" +
      schedules);
  REQUIRE(script.messages == "");
  return plan::make_plan(script.evaluator.kernels().back());
}

std::string schedule(const std::string& name, const std::string& when, const std::string& cost,
                     int portfolio = 0) {
  return "schedule turn for simt " + (when.empty() ? "" : "when " + when) + " { name = \"" + name +
         "\"; accesses = \"elements\"" + (cost.empty() ? "" : "; cost = " + cost) +
         (portfolio > 0 ? "; portfolio = " + std::to_string(portfolio) : "") + " }\n";
}

std::vector<std::string> names(const plan::Plan& plan) {
  std::vector<std::string> result;
  for (const plan::Variant& variant : plan.variants) result.push_back(variant.name);
  return result;
}

Binding sizes(const plan::Plan& plan, std::int64_t m, std::int64_t n) {
  Binding result;
  for (const sema::Dim& dim : plan.kernel->dims)
    result[*dim.symbol.dim_id()] = dim.name == "M" ? m : n;
  return result;
}

std::string taken(const plan::Plan& plan, std::int64_t m, std::int64_t n) {
  const Binding at = sizes(plan, m, n);
  const auto fitting = plan::fitting_variants(plan, at);
  REQUIRE(!fitting.empty());
  CHECK(fitting.front() == &plan::chosen_variant(plan, at));
  return fitting.front()->name;
}

}  // namespace

TEST_CASE("portfolios: the fitting schedule of least cost is taken, the first of equal ones") {
  const plan::Plan plan =
      planned(schedule("wide", "M >= 64", "100 * ceil_div(M,64)") +
              schedule("tall", "", "M + 200") + schedule("same", "", "M + 200"));
  CHECK(names(plan) == std::vector<std::string>{"wide", "tall"});  // equal ones drop out
  CHECK(taken(plan, 64, 1) == "wide");
  CHECK(taken(plan, 63, 1) == "tall");
  CHECK(taken(plan, 2000, 1) == "tall");
  CHECK(taken(plan, 256, 1) == "wide");  // 400 and 456
  CHECK(taken(plan, 300, 1) == "wide");  // 500 and 500
  CHECK(taken(plan, 600, 1) == "tall");  // 1000 and 800
}

TEST_CASE("portfolios: schedules without a cost are tried in order, before and behind") {
  const plan::Plan plan = planned(schedule("first", "M >= 1000", "") + schedule("dear", "", "10") +
                                  schedule("cheap", "N >= 8", "1") + schedule("never", "", "") +
                                  schedule("apart", "", "0"));
  // What takes all sizes hides what stands behind it, but in its own portfolio.
  CHECK(names(plan) == std::vector<std::string>{"first", "dear", "cheap"});
  CHECK(taken(plan, 1000, 8) == "first");
  CHECK(taken(plan, 999, 8) == "cheap");
  CHECK(taken(plan, 999, 7) == "dear");
  const plan::Plan two = planned(schedule("a", "M >= 8", "5") + schedule("b", "N >= 8", "") +
                                 schedule("c", "M >= 8", "1") + schedule("d", "", "7"));
  CHECK(taken(two, 8, 8) == "a");  // c stands in another portfolio
  CHECK(taken(two, 7, 8) == "b");
  CHECK(taken(two, 7, 7) == "d");
}

TEST_CASE("portfolios: a cost that does not fit 64 bits is the greatest") {
  const plan::Plan plan = planned(schedule("huge", "", "M * M * M * M * M") +
                                  schedule("known", "", "4611686018427387904"));
  CHECK(taken(plan, 1000, 1) == "huge");
  CHECK(taken(plan, 100'000, 1) == "known");
}

// The rule by loops.
TEST_CASE("portfolios: drawn plans are taken from as the rule says") {
  const unsigned seed = 41;
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto drawn = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most));
  };
  const char* conditions[] = {"", "M >= 10", "N >= 10", "M % 3 == 0", "M < N"};
  const char* costs[] = {"",
                         "M + N",
                         "3 * N",
                         "100",
                         "ceil_div(M,7) * ceil_div(N,5)",
                         "if M % 2 == 0 then M/2 else 1000",
                         "max(M, 2 * N)"};
  for (int round = 0; round < 60; ++round) {
    std::string text;
    std::map<std::string, int> portfolios;  // counted in the script, where none is dropped yet
    int before = -1;                        // the number said before; none
    for (int i = 0; i < 6; ++i) {
      const std::string name = "s" + std::to_string(i), cost = costs[drawn(7)];
      const int number = cost.empty() ? -1 : drawn(3);
      portfolios[name] = i + 1;
      if (number >= 0 && number == before)
        portfolios[name] = portfolios.at("s" + std::to_string(i - 1));
      before = number;
      text += schedule(name, conditions[drawn(5)], cost, number);
    }
    CAPTURE(text);
    const plan::Plan plan = planned(text);
    REQUIRE(plan.problems.empty());
    // Printed and read again, the plan is the same one.
    std::string printed;
    for (const plan::Variant& variant : plan.variants)
      for (const std::string& line : plan::schedule_lines(plan, variant)) printed += line + "\n";
    CHECK(plan::print_plan(planned(printed)) == plan::print_plan(plan));
    for (int each = 0; each < 20; ++each) {
      const std::int64_t m = 1 + drawn(40), n = 1 + drawn(40);
      CAPTURE(m, n);
      const Binding at = sizes(plan, m, n);
      const plan::Variant* best = nullptr;
      const auto cost = [&](const plan::Variant& variant) {
        return variant.cost->value.evaluate(at).value();
      };
      for (const plan::Variant& variant : plan.variants) {
        // A portfolio ends at a schedule without a cost, or of another number.
        if (best && portfolios[variant.name] != portfolios[best->name]) break;
        if (!plan::fits(variant, at)) continue;
        if (best && cost(variant) >= cost(*best)) continue;
        best = &variant;
        if (!variant.cost) break;
      }
      REQUIRE(best);
      CHECK(plan::chosen_variant(plan, at).name == best->name);
    }
  }
}

// As the first of 4096 rows: rows of the library without a cost, for few rows, do not part them.
TEST_CASE("portfolios: a script's costs are not compared with the library's") {
  const std::string kernel =
      "use atoms.sm90\nkernel tt<N, K>(A: bf16 (4096,K):(K,1), B: bf16 (N,K):(K,1))"
      " -> C: bf16 (4096,N):(N,1) { C[m,n] = sum[k](A[m,k] * B[n,k]) }\n";
  const auto scheduled = [](const std::string& name, const std::string& cost, int n) {
    return "schedule tt for sm90 when N >= 64 { name = \"" + name + "\"; cost = " + cost +
           "; tile = (64," + std::to_string(n) + ",64); mma = sm90.wgmma(n = " + std::to_string(n) +
           ", ab = bf16, acc = f32); groups = (1,1,1,1); cluster = (1,1) }\n";
  };
  const auto plan_of = [&](const std::string& schedules) {
    const sema::test::Script script(kernel + schedules);
    REQUIRE(script.messages == "");
    return plan::make_plan(script.evaluator.kernels().back(), *find_target("h200"));
  };
  const auto first = [](const plan::Plan& plan, std::int64_t n, std::int64_t k) {
    Binding at;
    for (const sema::Dim& dim : plan.kernel->dims)
      at[*dim.symbol.dim_id()] = dim.name == "N" ? n : k;
    return plan::fitting_variants(plan, at).front()->name;
  };
  // Far above the library's clocks.
  const std::string large = "1000000000000";
  const plan::Plan plan = plan_of(scheduled("wide", large + " * ceil_div(N,128)", 128) +
                                  scheduled("narrow", large + " * ceil_div(N,64)", 64));
  CHECK(first(plan, 4096, 4096) == "wide");
  CHECK(first(plan, 64, 4096) == "wide");  // the same, the first
  CHECK(first(plan, 56, 4096).starts_with("sm90_"));
  std::string printed;
  for (const plan::Variant& variant : plan.variants)
    for (const std::string& line : plan::schedule_lines(plan, variant)) printed += line + "\n";
  CHECK(printed.find("portfolio") != std::string::npos);
  const plan::Plan again = plan_of(printed);
  CHECK(first(again, 4096, 4096) == "wide");
  CHECK(first(again, 56, 4096) == first(plan, 56, 4096));

  // A schedule that takes every row of the library, with its own stages: for 64 columns and more
  // none of the library's as they are.
  const plan::Plan own = plan_of("schedule tt for sm90 when N >= 64 { stages = 3 }\n");
  for (const std::int64_t n : {64, 512, 4096})
    CHECK(first(own, n, 4096).find("_own_") != std::string::npos);
}

TEST_CASE("portfolios: a number stands beside a cost, and is one") {
  for (const auto& [entries, message] : std::vector<std::pair<std::string, std::string>>{
           {"portfolio = 1",
            "`portfolio` says whose costs are compared, and this schedule has none"},
           {"cost = M; portfolio = M", "`portfolio` takes a number from 0 to 1000"},
           {"cost = M; portfolio = 1001", "`portfolio` takes a number from 0 to 1000"},
           {"cost = M; portfolio = \"b\"", "`portfolio` takes a number from 0 to 1000"}}) {
    INFO(entries);
    const plan::Plan plan = planned("schedule turn for simt { " + entries + " }\n");
    REQUIRE(plan.problems.size() == 1);
    CHECK(plan.problems[0].message == message);
  }
}

TEST_CASE("portfolios: a cost is printed as it is read") {
  const std::string text = schedule("wide", "M >= 64", "if N % 64 == 0 then N/64 else M") +
                           schedule("tall", "", "max(M + 200, ceil_div(N,8))");
  const plan::Plan plan = planned(text);
  std::string printed;
  for (const plan::Variant& variant : plan.variants)
    for (const std::string& line : plan::schedule_lines(plan, variant)) printed += line + "\n";
  CHECK(printed.find("cost          = (if N % 64 == 0 then N/64 else M)") != std::string::npos);
  const plan::Plan again = planned(printed);
  REQUIRE(again.variants.size() == plan.variants.size());
  CHECK(plan::print_plan(again) == plan::print_plan(plan));
}

TEST_CASE("portfolios: a cost is an integer over the sizes") {
  for (const char* wrong : {"\"low\"", "(1,2)", "4:1"}) {
    INFO(wrong);
    const plan::Plan plan = planned(schedule("one", "", wrong));
    REQUIRE(plan.problems.size() == 1);
    CHECK(plan.problems[0].message == "`cost` takes an integer over the sizes");
  }
}

TEST_CASE("portfolios: the library's costs exist at all sizes that are known") {
  for (const char* k : {"1", "63", "64", "100", "4096"}) {
    INFO(k);
    const sema::test::Script script("kernel f<M, N>(A: bf16 (M," + std::string(k) +
                                    "), B: bf16 (N," + k +
                                    ")) -> C: bf16 (M,N) { C[m,n] = sum[k](A[m,k] * B[n,k]) }");
    REQUIRE(script.messages == "");
    const plan::Plan plan =
        plan::make_plan(script.evaluator.kernels().back(), *find_target("h200"));
    CHECK(plan.problems.empty());
    CHECK(std::any_of(plan.variants.begin(), plan.variants.end(),
                      [](const plan::Variant& variant) { return variant.cost.has_value(); }));
  }
}

}  // namespace lay::test
