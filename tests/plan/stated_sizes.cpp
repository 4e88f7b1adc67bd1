// Schedules searched for known sizes (backend/plan/schedule/stated_sizes.h).
#include "backend/plan/schedule/stated_sizes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "backend/plan/make.h"
#include "backend/plan/print.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/target/target.h"
#include "frontend/sema/library.h"
#include "runtime/build/narrow.h"
#include "tests/language/script.h"
#include "tests/plan/policy_rows.h"

namespace lay::test {
namespace {

std::int64_t drawn(std::mt19937& random, std::int64_t most) {
  return 8 * (1 + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most / 8)));
}

sema::KernelPtr kernel_of(const std::string& text) {
  const sema::test::Script script(text);
  REQUIRE(script.messages == "");
  return script.evaluator.kernels().back();
}

const char* const product =
    "kernel f<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1)) -> C: bf16 (M,N):(N,1)\n"
    "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n";

Binding at(const sema::Kernel& kernel, std::int64_t m, std::int64_t n, std::int64_t k) {
  Binding result;
  for (const sema::Dim& dim : kernel.dims)
    result[*dim.symbol.dim_id()] = dim.name == "M" ? m : dim.name == "N" ? n : k;
  return result;
}

std::vector<std::string> names(const plan::Plan& plan) {
  std::vector<std::string> result;
  for (const plan::Variant& variant : plan.variants) result.push_back(variant.name);
  return result;
}

}  // namespace

// The fast path takes numbers, a row's cost is an expression that a launcher evaluates.
TEST_CASE("spaces: a candidate's cost is that of its row at the sizes") {
  using enum ElementType;
  std::mt19937 random(7);
  sema::ProductKind f32_kind{f32, f32, f32};
  f32_kind.b_along_k = false;
  sema::ProductKind fused{bf16, bf16, f32};
  fused.arithmetic = 9;
  fused.inputs = true;
  sema::ProductKind batched{bf16, bf16, f32};
  batched.batched = true;
  batched.a_along_k = false;
  const std::vector<std::pair<std::string, sema::ProductKind>> kinds{{"sm90", {bf16, bf16, f32}},
                                                                     {"sm90", fused},
                                                                     {"sm90", batched},
                                                                     {"sm90", {e4m3, e4m3, f32}},
                                                                     {"simt", f32_kind}};
  for (const auto& [family, kind] : kinds) {
    for (int i = 0; i < 3; ++i) {
      const sema::ProblemSize size{drawn(random, 4096), drawn(random, 4096), drawn(random, 4096),
                                   kind.batched ? 5 : 1, 132};
      const auto rows = sema::library_space(family, kind, size);
      REQUIRE(rows.size() >= 40);
      CHECK(std::is_sorted(rows.begin(), rows.end(),
                           [](const auto& a, const auto& b) { return a.cost < b.cost; }));
      for (std::size_t row = 0; row < rows.size(); row += 1 + rows.size() / 12) {
        const auto policy = sema::space_policy(family, kind, rows[row]);
        INFO(family << " " << rows[row].tile.to_string() << " " << rows[row].how);
        REQUIRE(policy);
        CHECK(sema::under(policy->when, size).evaluate({}) == true);
        const auto cost = cost_under(*policy, size);
        REQUIRE(cost);
        CHECK(cost->value() == rows[row].cost);
      }
    }
  }
}

// A plan for any sizes has rows for them.
TEST_CASE("spaces: sizes whose costs do not fit 64 bits are not searched") {
  using enum ElementType;
  for (const std::int64_t n : {20000000, 2000000000}) {
    CAPTURE(n);
    CHECK(sema::library_space("sm90", {bf16, bf16, f32}, {n, n, n, 1, 132}).empty());
    CHECK(sema::library_space("simt", {f32, f32, f32}, {n, n, n, 1, 132}).empty());
    const sema::KernelPtr kernel = kernel_of(product);
    plan::Plan plan = plan::make_plan(kernel);
    const std::vector<std::string> rows = names(plan);
    plan::add_for_sizes(plan, at(*kernel, n, n, n), default_target());
    CHECK(names(plan) == rows);
  }
}

TEST_CASE("spaces: there is none for kinds without a portfolio of their own") {
  using enum ElementType;
  const sema::ProblemSize size{512, 512, 512, 1, 132};
  sema::ProductKind in_parts{bf16, bf16, f32};
  in_parts.in_parts = true;
  CHECK(sema::library_space("sm90", in_parts, size).empty());
  CHECK(sema::library_space("sm90", {bf16, s8, f32}, size).empty());
  CHECK(sema::library_space("sm80", {bf16, bf16, f32}, size).empty());
  sema::ProductKind of_segments{f32, f32, f32};
  of_segments.segments = true;
  CHECK(sema::library_space("simt", of_segments, size).empty());
}

TEST_CASE("plans for known sizes: the cheapest of the space beside the rows, where it is cheaper") {
  const sema::KernelPtr kernel = kernel_of(product);
  const plan::Plan rows = plan::make_plan(kernel);
  std::mt19937 random(11);
  int added = 0;
  for (int i = 0; i < 12; ++i) {
    const std::int64_t m = drawn(random, 6000), n = drawn(random, 6000), k = drawn(random, 6000);
    const Binding sizes = at(*kernel, m, n, k);
    plan::Plan plan = rows;
    plan::add_for_sizes(plan, sizes, default_target());
    const auto before = plan::fitting(rows, sizes), now = plan::fitting(plan, sizes);
    if (plan.variants.size() == rows.variants.size()) {
      CHECK(names(plan) == names(rows));
      continue;
    }
    ++added;
    // All rows are there in their order, and one portfolio has the new one.
    const plan::Variant& made = *now.front().variant;
    INFO(made.name);
    CHECK(now.front().portfolio == before.front().portfolio);
    CHECK(now.front().cost < before.front().cost);
    CHECK(made.of_library);
    CHECK(!made.schedule.known());
    std::vector<std::string> others = names(plan);
    CHECK(std::erase(others, made.name) == 1);
    CHECK(others == names(rows));
    // What it is searched for is not what it is for: its conditions are those of any row.
    CHECK(plan::fits(made, at(*kernel, 4096, 4096, 4096)));
    // Asked again there is nothing to add.
    const std::vector<std::string> once = names(plan);
    plan::add_for_sizes(plan, sizes, default_target());
    CHECK(names(plan) == once);
  }
  CHECK(added >= 3);
}

// Sizes that TMA cannot read, or only the output's: the tile that costs least has the accesses and
// the copies of the row that it stands beside.
TEST_CASE("plans for known sizes: odd sizes have all tiles too, on copies") {
  const sema::KernelPtr kernel = kernel_of(product);
  const plan::Plan rows = plan::make_plan(kernel);
  std::mt19937 random(28);
  std::set<std::string> tails;
  int added = 0;
  for (int i = 0; i < 12; ++i) {
    // M and K odd and N whole vectors; N alone odd; all odd.
    const std::int64_t m = drawn(random, 3000) | 1, n = drawn(random, 3000) / 8 * 8 + 8 + i % 3 / 2,
                       k = drawn(random, 3000) / 8 * 8 + 8 + (i % 3 != 1);
    const Binding sizes = at(*kernel, m, i % 3 == 1 ? n + 1 : n, k);
    plan::Plan plan = rows;
    plan::add_for_sizes(plan, sizes, default_target());
    const auto before = plan::fitting(rows, sizes), now = plan::fitting(plan, sizes);
    CHECK(now.front().portfolio == before.front().portfolio);
    CHECK(now.front().cost <= before.front().cost);
    if (plan.variants.size() == rows.variants.size()) continue;
    ++added;
    const plan::Variant &row = *before.front().variant, &made = *now.front().variant;
    INFO(row.name << " and " << made.name);
    CHECK(made.accesses == row.accesses);
    REQUIRE(made.before.size() == row.before.size());
    if (!row.before.empty()) {
      CHECK(made.before.front()->variants.front().name ==
            row.before.front()->variants.front().name);
      CHECK(made.workspace == row.workspace);
    }
    tails.insert(std::string(row.accesses == plan::Width::elements ? "elements" : "vectors") +
                 (row.before.empty() ? "" : ", copied"));
  }
  CHECK(added >= 6);
  CHECK(tails == std::set<std::string>{"elements", "elements, copied", "vectors, copied"});
}

// Rows of copies begin with lines whatever K is, so that what they cost jumps at no other K.
TEST_CASE(
    "plans for known sizes: what a schedule costs on copies hangs on whole lines of K alone") {
  const sema::KernelPtr kernel = kernel_of(product);
  const plan::Plan rows = plan::make_plan(kernel);
  int found = 0;
  for (const plan::Variant& each : rows.variants) {
    if (each.name != "sm90_64x32_any_repack_A_B") continue;
    ++found;
    REQUIRE(each.cost);
    const auto cost = [&](std::int64_t k) {
      return *each.cost->value.evaluate(at(*kernel, 777, 333, k));
    };
    CHECK(cost(449) == cost(512));
    CHECK(cost(495) == cost(511));
    CHECK(cost(449) < cost(577));
  }
  CHECK(found == 1);
}

// A plan is text that pastes back: also the schedules that were searched.
TEST_CASE("plans for known sizes: what is added prints as a schedule and is read back") {
  const sema::KernelPtr kernel = kernel_of(product);
  plan::Plan plan = plan::make_plan(kernel);
  const Binding sizes = at(*kernel, 1784, 1816, 8120);
  plan::add_for_sizes(plan, sizes, default_target());
  const plan::Variant made = plan::chosen_variant(plan, sizes);
  REQUIRE(made.name == "sm90_128x240_2x4_cooperative");
  plan.variants = {made};
  const std::string text = plan::print_plan(plan);
  const sema::KernelPtr pasted = kernel_of(product + text);
  const plan::Plan again = plan::make_plan(pasted);
  REQUIRE(again.problems.empty());
  plan::Plan first = again;
  first.variants = {again.variants.front()};
  CHECK(plan::print_plan(first) == text);
}

TEST_CASE("plans for known sizes: those that a script states are searched in every plan") {
  const std::string stated = std::string(product) + "schedule f for M = 1784, N = 1816, K = 8120\n";
  const sema::KernelPtr kernel = kernel_of(stated);
  REQUIRE(kernel->stated_sizes.size() == 1);
  const plan::Plan plan = plan::make_plan(kernel);
  plan::Plan asked = plan::make_plan(kernel_of(product));
  const std::vector<std::string> rows = names(asked);
  plan::add_for_sizes(asked, at(*asked.kernel, 1784, 1816, 8120), default_target());
  CHECK(names(plan) == names(asked));
  CHECK(names(plan).size() == rows.size() + 1);
  CHECK(plan::chosen_variant(plan, at(*kernel, 1784, 1816, 8120)).name ==
        "sm90_128x240_2x4_cooperative");
  // Other sizes take what costs least of all.
  CHECK(plan::chosen_variant(plan, at(*kernel, 4096, 4096, 4096)).name ==
        plan::chosen_variant(asked, at(*asked.kernel, 4096, 4096, 4096)).name);

  CHECK(names(plan::make_plan(kernel, default_target(), plan::Searched::nothing)) == rows);

  // Where a dim is open whoever builds asks for drawn problems; what is searched serves others,
  // too.
  const sema::KernelPtr open =
      kernel_of(std::string(product) + "schedule f for N = 1816, K = 8120\n");
  plan::Plan for_any = plan::make_plan(open);
  CHECK(names(for_any) == rows);
  plan::add_for_stated(for_any, open->stated_sizes.at(0).sizes, default_target());
  CHECK(for_any.variants.size() > rows.size());
  std::mt19937 random(5);
  int better = 0;
  for (int i = 0; i < 60; ++i) {
    const std::int64_t m = 1 + static_cast<std::int64_t>(random() % 6000);
    const auto now = plan::fitting(for_any, at(*open, m, 1816, 8120)),
               before = plan::fitting(asked, at(*asked.kernel, m, 1816, 8120));
    REQUIRE(!now.empty());
    if (now.front().portfolio == before.front().portfolio)
      better += now.front().cost < before.front().cost;
  }
  CHECK(better > 0);

  // The same sizes twice are searched once.
  CHECK(names(plan::make_plan(
            kernel_of(stated + "schedule f for K = 8120, N = 1816, M = 1784\n"))) == names(plan));

  // A script's own schedule comes first, and nothing is searched for sizes that it takes.
  const plan::Plan own = plan::make_plan(kernel_of(stated + "schedule f for simt { }\n"));
  CHECK(names(own) ==
        names(plan::make_plan(kernel_of(std::string(product) + "schedule f for simt { }\n"))));
}

TEST_CASE("plans for known sizes: what a script states wrongly is refused") {
  const auto message = [](const std::string& sizes) {
    return sema::test::Script(std::string(product) + "schedule f for " + sizes + "\n").messages;
  };
  using Catch::Contains;
  CHECK(message("M = 64") == "");
  CHECK(message("M = 2 * 32, N = 64, K = 64") == "");
  CHECK_THAT(message("m = 64"), Contains("[no-parameter]") && Contains("has no size m"));
  CHECK_THAT(message("M = 0"), Contains("[operand-kind]") && Contains("from 1 to"));
  CHECK_THAT(message("M = (1,2)"), Contains("[operand-kind]"));
  CHECK_THAT(message("M = 64, M = 32"),
             Contains("[duplicate-name]") && Contains("M is given twice"));
  const std::string guarded =
      "kernel g<M, N>(A: f32 (M,N):(N,1)) -> C: f32 (M,N):(N,1) where N % 4 == 0 and M >= N\n"
      "{ C[m,n] = 2 * A[m,n] }\n";
  CHECK(sema::test::Script(guarded + "schedule g for M = 8, N = 4\n").messages == "");
  CHECK_THAT(sema::test::Script(guarded + "schedule g for N = 6\n").messages,
             Contains("[guard]") && Contains("N % 4 == 0"));
  CHECK_THAT(sema::test::Script(guarded + "schedule g for M = 4, N = 8\n").messages,
             Contains("[guard]") && Contains("N <= M"));
  CHECK_THAT(sema::test::Script("schedule h for M = 4\n").messages, Contains("[unknown-kernel]"));
  // What no launch takes, though no guard by itself refuses it.
  CHECK_THAT(message("M = 2147483648"), Contains("[operand-kind]"));
  CHECK(message("M = 2147483647") == "");
  const std::string between =
      "kernel g<M, N>(A: f32 (M,N):(N,1)) -> C: f32 (M,N):(N,1) where M >= 100 and M <= 50 + N\n"
      "{ C[m,n] = 2 * A[m,n] }\n";
  CHECK(sema::test::Script(between + "schedule g for N = 50\n").messages == "");
  CHECK_THAT(sema::test::Script(between + "schedule g for N = 3\n").messages,
             Contains("[guard]") && Contains("no launch has these sizes"));
}

TEST_CASE("plans for known sizes: instances of a kernel leave out sizes that their guards refuse") {
  const std::string generic =
      "kernel g<T: type, M, N>(X: T (M,N):(N,1)) -> Y: T (M,N):(N,1) where N * bits(T) % 128 == 0\n"
      "{ Y[m,n] = X[m,n] }\n"
      "schedule g for M = 64, N = 4\n"
      "schedule g for M = 64, N = 8\n"
      "let y = g(random(bf16, (4,8), 1))\n";
  const sema::test::Script script(generic);
  CHECK(script.messages == "");
}

TEST_CASE("plans for known sizes: a build counts stated sizes as much as all others") {
  const sema::KernelPtr kernel = kernel_of(std::string(product) +
                                           "schedule f for M = 1784, N = 1816, K = 8120\n"
                                           "schedule f for N = 1816, K = 8120\n");
  const plan::Purpose purpose = runtime::purpose_of(*kernel, {}, 12);
  CHECK(purpose.for_other_sizes);
  std::size_t first = 0, second = 0;
  for (const Binding& sizes : purpose.problems) {
    if (sizes == at(*kernel, 1784, 1816, 8120))
      ++first;
    else
      second += sizes.at(*kernel->dims[1].symbol.dim_id()) == 1816;
  }
  CHECK(4 * first == purpose.problems.size());
  CHECK(4 * second == purpose.problems.size());
  // Where guards leave no others these are all there are.
  const sema::KernelPtr fixed = kernel_of(
      "kernel f<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1)) -> C: bf16 (M,N):(N,1)\n"
      "  where N == 14336 and K == 4100\n"
      "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n"
      "schedule f for M = 16, N = 14336, K = 4100\n");
  const auto of_fixed = runtime::purpose_of(*fixed, {}, 12).problems;
  CHECK(of_fixed == std::vector<Binding>{at(*fixed, 16, 14336, 4100)});
  // Sizes of the command line are what a build is for, whatever the script states.
  CHECK(runtime::purpose_of(*kernel, {{{"M", 8}, {"N", 8}, {"K", 8}}}, 12).problems.size() == 1);

  // What is drawn for open dims stands in the plan that is printed and built.
  plan::Plan plan = plan::make_plan(kernel);
  const std::size_t searched = plan.variants.size();
  runtime::add_for_open_sizes(plan, default_target());
  CHECK(plan.variants.size() > searched);
}

TEST_CASE("plans for known sizes: plans without such a portfolio stay as they are") {
  for (const auto& [text, gpu] : std::vector<std::pair<std::string, std::string>>{
           {product, "a100"},
           {"kernel f<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (N,M):(M,1) { Y[n,m] = X[m,n] }\n",
            "h200"},
           {"kernel f<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 M:1 { Y[m] = sum[n](X[m,n]) }\n", "h200"},
           {"kernel f<M, N, K>(A: f32 (M,K), B: f32 (N,K)) -> C: f32 (M,N)\n"
            "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n",
            "a100"},
           {std::string(product) + "schedule f for simt { }\n", "h200"}}) {
    const sema::KernelPtr kernel = kernel_of(text);
    const Target target = *find_target(gpu);
    plan::Plan plan = plan::make_plan(kernel, target);
    REQUIRE(plan.problems.empty());
    const std::vector<std::string> before = names(plan);
    plan::add_for_sizes(plan, at(*kernel, 416, 5992, 3504), target);
    CHECK(names(plan) == before);
  }
}

}  // namespace lay::test
