// The few variants that a build keeps: they take every problem that all of them take, and lose what
// is said.
#include "backend/plan/narrow/narrow.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backend/plan/make.h"
#include "backend/plan/narrow/drawn_sizes.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/target/target.h"
#include "tests/language/script.h"

namespace lay::test {
namespace {

const std::string product =
    "kernel f<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1)) -> C: bf16 (M,N):(N,1)\n"
    "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n";

plan::Plan planned(const std::string& script, const std::string& gpu = "h200") {
  const sema::test::Script read(script);
  REQUIRE(read.messages == "");
  plan::Plan plan = plan::make_plan(read.evaluator.kernels().back(), *find_target(gpu));
  REQUIRE(plan.problems.empty());
  return plan;
}

std::size_t of_library(const plan::Plan& plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.variants.begin(), plan.variants.end(),
                    [](const plan::Variant& each) { return each.of_library; }));
}

bool is_for_any_pointer(const plan::Variant* variant) {
  return variant->aligned.empty();
}

// What the plan takes for aligned pointers and for any.
bool takes(const plan::Plan& plan, const Binding& sizes, bool is_aligned) {
  const auto fitting = plan::fitting_variants(plan, sizes);
  return is_aligned ? !fitting.empty()
                    : std::any_of(fitting.begin(), fitting.end(), is_for_any_pointer);
}

// Problems that did not choose the variants: every other one of twice as many.
std::vector<Binding> other_problems(const sema::Kernel& kernel) {
  const auto drawn = plan::drawn_sizes(kernel, {}, 600);
  return {drawn.begin() + 300, drawn.end()};
}

// By the costs, whose variants have the same names in both plans: the mean of logarithms and the
// worst, over problems that stay in their portfolio.
struct Slow {
  double mean = 1, worst = 1;
  std::size_t elsewhere = 0;
};
Slow slow(const plan::Plan& all, const plan::Plan& few, const std::vector<Binding>& problems) {
  Slow result;
  double sum = 0;
  std::size_t counted = 0;
  for (const Binding& sizes : problems) {
    const auto of_all = plan::fitting(all, sizes);
    if (of_all.empty()) continue;
    const std::string name = plan::chosen_variant(few, sizes).name;
    const auto same = std::find_if(of_all.begin(), of_all.end(), [&](const plan::Fitting& each) {
      return each.variant->name == name;
    });
    REQUIRE(same != of_all.end());
    if (same->portfolio != of_all.front().portfolio) {
      ++result.elsewhere;
      continue;
    }
    const double ratio = of_all.front().cost == 0 ? 1
                                                  : static_cast<double>(same->cost) /
                                                        static_cast<double>(of_all.front().cost);
    ++counted;
    sum += std::log(ratio);
    result.worst = std::max(result.worst, ratio);
  }
  if (counted > 0) result.mean = std::exp(sum / static_cast<double>(counted));
  return result;
}

}  // namespace

TEST_CASE("narrow: few variants take every problem that all of them take") {
  for (const std::string& script :
       {product,
        std::string("kernel f<M, N, K>(A: f32 (M,K), B: f32 (N,K)) -> C: f32 (M,N)\n"
                    "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n"),
        std::string("kernel f<L, M, N, K>(A: bf16 (L,M,K), B: bf16 (L,K,N)) -> C: f32 (L,M,N)\n"
                    "  where N % 8 == 0 { C[l,m,n] = sum[k](A[l,m,k] * B[l,k,n]) }\n"),
        std::string("kernel f<M>(A: bf16 (M,4096), B: bf16 (1536,4096)) -> C: bf16 (M,1536)\n"
                    "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n")})
    for (const std::string gpu : {"h200", "a100"}) {
      const plan::Plan all = planned(script, gpu);
      const plan::Purpose purpose{plan::drawn_sizes(*all.kernel, {}, 300)};
      REQUIRE(purpose.problems.size() == 300);
      const plan::Plan few = plan::narrowed_plan(all, purpose);
      CAPTURE(script, gpu, few.variants.size());
      CHECK(of_library(few) <= plan::usual_variants);
      const auto others = other_problems(*all.kernel);
      REQUIRE(others.size() == 300);
      for (const Binding& sizes : others)
        for (const bool is_aligned : {true, false})
          if (takes(all, sizes, is_aligned)) CHECK(takes(few, sizes, is_aligned));
      // It says what is lost.
      const plan::Narrowed said = plan::narrow(all, purpose);
      const Slow found = slow(all, few, purpose.problems);
      CHECK(said.mean == Approx(found.mean));
      CHECK(said.worst == Approx(found.worst));
      CHECK(said.elsewhere == found.elsewhere);
      // On other problems about as much.
      CHECK(slow(all, few, others).mean < 1.5 * (found.mean - 1) + 1.02);
    }
}

TEST_CASE("narrow: more variants lose no more, and all of them nothing") {
  const plan::Plan all = planned(product);
  plan::Purpose purpose{plan::drawn_sizes(*all.kernel, {}, 200)};
  double before = 100;
  for (const std::size_t most : {4, 6, 8, 12, 16, 24, 100}) {
    purpose.most = most;
    const plan::Narrowed narrowed = plan::narrow(all, purpose);
    CAPTURE(most, narrowed.kept.size());
    CHECK(narrowed.kept.size() <= most);
    const double lost = narrowed.mean + static_cast<double>(narrowed.elsewhere);
    CHECK(lost <= before);
    before = lost;
  }
  CHECK(before == 1);
  // Where fewer would leave problems without a variant, there are more.
  purpose.most = 1;
  const plan::Plan one = plan::narrowed_plan(all, purpose);
  CHECK(one.variants.size() == 1);
  CHECK(one.variants.front().when.empty());
}

TEST_CASE("narrow: each single problem keeps what it takes, for aligned pointers and for any") {
  const plan::Plan all = planned(product);
  for (const Binding& sizes : plan::drawn_sizes(*all.kernel, {}, 40)) {
    const plan::Plan few = plan::narrowed_plan(all, {{sizes}, false});
    const auto fitting = plan::fitting_variants(all, sizes);
    std::set<std::string> expected{fitting.front()->name}, kept;
    expected.insert((*std::find_if(fitting.begin(), fitting.end(), is_for_any_pointer))->name);
    for (const plan::Variant& variant : few.variants) kept.insert(variant.name);
    CHECK(kept == expected);
    // For other sizes, too, something takes what these variants do not.
    const plan::Plan more = plan::narrowed_plan(all, {{sizes}, true});
    CHECK(std::any_of(more.variants.begin(), more.variants.end(), [](const plan::Variant& each) {
      return each.when.empty() && each.aligned.empty();
    }));
  }
}

TEST_CASE("narrow: a script's schedules stay, and the library's rows that complete one need not") {
  const std::string own =
      "schedule f for sm80 when M < 8 { accesses = \"elements\" }\n"
      "schedule f for simt when M < 4 { accesses = \"elements\" }\n";
  const plan::Plan all = planned(product + own);
  const plan::Purpose purpose{plan::drawn_sizes(*all.kernel, {{"M", 4096}}, 50)};
  const plan::Plan few = plan::narrowed_plan(all, purpose);
  const auto has = [&](const std::string& name) {
    return std::any_of(few.variants.begin(), few.variants.end(),
                       [&](const plan::Variant& each) { return each.name == name; });
  };
  CHECK(has("simt"));  // no problem takes it
  for (const plan::Variant& variant : few.variants)
    CHECK(variant.name.find("own") == std::string::npos);
  // Completed rows are as many as the library's.
  const plan::Plan completed = planned(product + "schedule f for sm90 { stages = 3 }\n");
  CHECK(completed.variants.size() > 2 * plan::usual_variants);
  CHECK(plan::narrowed_plan(completed, {plan::drawn_sizes(*all.kernel, {}, 100)}).variants.size() <=
        plan::usual_variants);
}

TEST_CASE("narrow: launches before are narrowed with the variants that they belong to") {
  const plan::Plan all = planned(
      "kernel f<M, N, K, P>(A: bf16 (M,K), B: bf16 (N,K), C: bf16 (P,N)) -> D: bf16 (M,P)\n"
      "{ let t[m,n] = sum[k](A[m,k] * B[n,k])\n  D[m,p] = sum[n](bf16(t[m,n]) * C[p,n]) }\n",
      "a100");
  const auto longest = [](const plan::Plan& plan) {
    std::size_t most = 0;
    for (const plan::Variant& variant : plan.variants)
      for (const auto& before : variant.before) most = std::max(most, before->variants.size());
    return most;
  };
  plan::Purpose purpose{plan::drawn_sizes(*all.kernel, {}, 100)};
  purpose.most = 2;
  const plan::Plan few = plan::narrowed_plan(all, purpose);
  CHECK(longest(all) > 2);
  CHECK(longest(few) <= 2);
  for (const Binding& sizes : other_problems(*all.kernel)) CHECK(takes(few, sizes, true));
}

TEST_CASE("narrow: without problems all variants stay") {
  const plan::Plan all = planned(product);
  CHECK(plan::narrowed_plan(all, {}).variants.size() == all.variants.size());
  // Guards that no drawn sizes meet.
  const plan::Plan odd = planned(
      "kernel f<M, N, K>(A: bf16 (M,K), B: bf16 (N,K)) -> C: bf16 (M,N)\n"
      "  where M == 4001 and N == 4003 { C[m,n] = sum[k](A[m,k] * B[n,k]) }\n");
  const plan::Purpose purpose{plan::drawn_sizes(*odd.kernel, {}, 20)};
  CHECK(purpose.problems.empty());
  CHECK(plan::narrowed_plan(odd, purpose).variants.size() == odd.variants.size());
}

TEST_CASE("narrow: sizes are drawn as they are given, within the guards") {
  const plan::Plan plan = planned(
      "kernel f<M, N, K>(A: bf16 (M,K), B: bf16 (N,K)) -> C: bf16 (M,N)\n"
      "  where K % 8 == 0 and M <= 100 { C[m,n] = sum[k](A[m,k] * B[n,k]) }\n");
  const sema::Kernel& kernel = *plan.kernel;
  const auto size = [&](const Binding& sizes, std::size_t dim) {
    return sizes.at(*kernel.dims[dim].symbol.dim_id());
  };
  const auto drawn = plan::drawn_sizes(kernel, {{"N", 152064}}, 80);
  REQUIRE(drawn.size() == 80);
  std::set<std::int64_t> rows;
  for (const Binding& sizes : drawn) {
    CHECK(size(sizes, 1) == 152064);
    CHECK(size(sizes, 2) % 8 == 0);
    CHECK(size(sizes, 0) <= 100);
    rows.insert(size(sizes, 0));
  }
  CHECK(rows.size() > 10);
  CHECK(plan::drawn_sizes(kernel, {{"N", 152064}}, 80) == drawn);
  CHECK(plan::drawn_sizes(kernel, {{"", 64}}, 80).size() == 1);
  CHECK(plan::drawn_sizes(kernel, {{"M", 3}, {"N", 5}, {"K", 7}}, 80).empty());
}

}  // namespace lay::test
