// Outputs that a launch behind the product permutes: every kernel of permuted.lay with all checks
// of the host interpreter, against the reference, bit for bit on small integers over outputs of
// NaN; when two launches are chosen, and what schedules say of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "backend/plan/make.h"
#include "backend/plan/print.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/target/target.h"
#include "frontend/sema/evaluator.h"
#include "frontend/sema/kernel/reference.h"
#include "frontend/source/diagnostic.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/products/drawn_variants.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;
using test::can_run, test::trouble;

bool is_permuted(const plan::Variant& variant) {
  return plan::elementwise(variant) && !variant.before.empty();
}

sema::KernelCall call_of(const sema::KernelPtr& kernel, std::int64_t m, std::int64_t n,
                         std::int64_t k, std::int64_t l) {
  std::int64_t count = m + n + k + l;
  return test::drawn_call(kernel, {{"M", m}, {"N", n}, {"K", k}, {"L", l}},
                          [&] { return static_cast<double>(++count * 7919 % 3 - 1); });
}

sema::KernelPtr kernel_of(const std::string& text) {
  Sources sources;
  sema::Evaluator evaluator(sources, {});
  for (const sema::Outcome& outcome : evaluator.run("permuted.lay", text))
    if (!outcome.ok()) throw std::runtime_error(text + render(sources, outcome.diagnostics));
  return evaluator.kernels().at(0);
}

Binding sizes_of(const sema::Kernel& kernel, const std::map<std::string, std::int64_t>& named) {
  Binding sizes;
  for (const sema::Dim& dim : kernel.dims) sizes[*dim.symbol.dim_id()] = named.at(dim.name);
  return sizes;
}

const std::string batch_last =
    "use atoms.sm90\nuse atoms.sm80\n"
    "kernel batch_last<M, N, K, L>(A: bf16 (L,M,K), B: bf16 (N,K)) -> C: bf16 (M,N,L)\n"
    "{ C[m,n,l] = sum[k](A[l,m,k] * B[n,k]) }\n";

}  // namespace

TEST_CASE("permuted outputs: every variant agrees with the reference") {
  test::Kernels kernels("tests/agreement/products/permuted.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    INFO(kernel->name);
    const plan::Plan plan = plan::make_plan(kernel);
    REQUIRE(plan.problems.empty());
    REQUIRE(is_permuted(plan.variants.front()));
    std::set<std::string> taken;
    for (const auto& [m, n, k, l] :
         {std::tuple{1, 1, 1, 1}, {5, 7, 3, 2}, {17, 24, 16, 4}, {40, 72, 24, 8}, {9, 8, 16, 18}}) {
      const sema::KernelCall call = call_of(kernel, m, n, k, l);
      const sema::KernelResult expected = sema::run_reference(call);
      for (const plan::Variant& variant : plan.variants) {
        if (!is_permuted(variant) || !can_run(variant, call.sizes)) continue;
        INFO(variant.name << " at " << m << ", " << n << ", " << k << ", " << l);
        CHECK(trouble(plan, variant, call, expected) == "");
        taken.insert(variant.name);
      }
    }
    for (const plan::Variant& variant : plan.variants)
      if (is_permuted(variant)) CHECK(taken.contains(variant.name));
  }
}

TEST_CASE("permuted outputs: a wrong permutation is found") {
  const sema::KernelPtr kernel = kernel_of(batch_last);
  plan::Plan plan = plan::make_plan(kernel);
  plan::Variant variant = plan.variants.front();
  const auto wrong = std::make_shared<sema::Kernel>(*variant.kernel);
  // Two extents alike, so that nothing but the values is wrong.
  for (sema::Node& node : wrong->nodes)
    if (auto* load = std::get_if<sema::Load>(&node.what))
      std::swap(load->coordinate[0], load->coordinate[1]);
  variant.kernel = wrong;
  auto& program = variant.programs.front();
  program.kernel = wrong;
  const sema::KernelCall call = call_of(kernel, 8, 8, 8, 8);
  const sema::KernelResult expected = sema::run_reference(call);
  CHECK(trouble(plan, plan.variants.front(), call, expected) == "");
  CHECK(trouble(plan, variant, call, expected) != "");
}

TEST_CASE("permuted outputs: two launches where they move less than one") {
  const sema::KernelPtr kernel = kernel_of(batch_last);
  const plan::Plan plan = plan::make_plan(kernel);
  const auto is_chosen = [&](std::int64_t m, std::int64_t l) {
    return is_permuted(plan::chosen_variant(
        plan, sizes_of(*kernel, {{"M", m}, {"N", 4096}, {"K", 4096}, {"L", l}})));
  };
  // 10 bytes of each element are saved at L = 4, 2 at L = 2; 12 MB go by in 2.5 us.
  CHECK(is_chosen(1024, 4));
  CHECK(is_chosen(74, 4));
  CHECK(!is_chosen(73, 4));
  CHECK(is_chosen(733, 2));
  CHECK(!is_chosen(732, 2));
  CHECK(!is_chosen(16384, 1));
}

TEST_CASE("permuted outputs: none where tiles store them as they lie, or gaps stay") {
  for (const char* text : {
           "kernel k<M, N, K, L>(A: bf16 (L,M,K), B: bf16 (N,K)) -> C: bf16 (M,L,N)\n"
           "{ C[m,l,n] = sum[k](A[l,m,k] * B[n,k]) }\n",
           "kernel k<M, N, K, L>(A: bf16 (L,M,K), B: bf16 (N,K)) -> C: bf16 (N,L,M)\n"
           "{ C[n,l,m] = sum[k](A[l,m,k] * B[n,k]) }\n",
           // Elements side by side in pairs, which lie apart.
           "kernel k<M, N, K>(A: bf16 (2,M,K), B: bf16 (N,K)) -> C: bf16 (M,N,2):(N*32,32,1)\n"
           "{ C[m,n,l] = sum[k](A[l,m,k] * B[n,k]) }\n",
           // No two elements side by side.
           "kernel k<M, N, K>(A: bf16 (2,M,K), B: bf16 (N,K)) -> C: bf16 (M,N,2):(N*4,4,2)\n"
           "{ C[m,n,l] = sum[k](A[l,m,k] * B[n,k]) }\n",
       }) {
    INFO(text);
    const plan::Plan plan = plan::make_plan(kernel_of(text));
    CHECK(plan.problems.empty());
    CHECK(std::none_of(plan.variants.begin(), plan.variants.end(), is_permuted));
  }
}

TEST_CASE("permuted outputs: a schedule says which launches it is for") {
  const std::string tile =
      "mma = sm90.wgmma(n = 64, ab = bf16, acc = f32), tile = (64,64,64), groups = (1,1,1,1), ";
  const auto planned = [&](const std::string& schedules) {
    return plan::make_plan(kernel_of(batch_last + schedules));
  };
  // Of its product, at all sizes that the schedule takes.
  const plan::Plan said = planned("schedule batch_last for sm90 { " + tile +
                                  "name = \"mine\", outputs = \"permuted\" }\n");
  REQUIRE(said.problems.empty());
  const plan::Variant& small =
      plan::chosen_variant(said, sizes_of(*said.kernel, {{"M", 8}, {"N", 8}, {"K", 8}, {"L", 4}}));
  REQUIRE(is_permuted(small));
  CHECK(small.before.front()->variants.front().name == "mine");
  const sema::KernelCall call = call_of(said.kernel, 8, 8, 8, 4);
  CHECK(trouble(said, small, call, sema::run_reference(call)) == "");
  // Under its condition alone.
  const plan::Plan some =
      planned("schedule batch_last for sm90 when M > 64 { " + tile + "outputs = \"permuted\" }\n");
  REQUIRE(some.problems.empty());
  CHECK(!is_permuted(plan::chosen_variant(
      some, sizes_of(*some.kernel, {{"M", 8}, {"N", 8}, {"K", 8}, {"L", 4}}))));
  CHECK(is_permuted(plan::chosen_variant(
      some, sizes_of(*some.kernel, {{"M", 65}, {"N", 8}, {"K", 8}, {"L", 4}}))));
  // In one launch, with and without a word, before what the library would choose.
  const std::map<std::string, std::int64_t> large{{"M", 1024}, {"N", 4096}, {"K", 4096}, {"L", 4}};
  for (const char* word : {"outputs = \"direct\"", "name = \"plain\""}) {
    const plan::Plan direct = planned("schedule batch_last for sm90 { " + tile + word + " }\n");
    REQUIRE(direct.problems.empty());
    CHECK(!is_permuted(plan::chosen_variant(direct, sizes_of(*direct.kernel, large))));
  }
  // The library's tiles, where the schedule says.
  const plan::Plan chosen =
      planned("schedule batch_last for sm90 when N < 64 { outputs = \"permuted\" }\n");
  REQUIRE(chosen.problems.empty());
  CHECK(!is_permuted(plan::chosen_variant(chosen, sizes_of(*chosen.kernel, large))));
  CHECK(is_permuted(plan::chosen_variant(
      chosen, sizes_of(*chosen.kernel, {{"M", 8}, {"N", 8}, {"K", 8}, {"L", 4}}))));
  // The library's rows, in one launch.
  const plan::Plan rows = planned("schedule batch_last for sm90 { outputs = \"direct\" }\n");
  REQUIRE(rows.problems.empty());
  CHECK(!is_permuted(plan::chosen_variant(
      rows, sizes_of(*rows.kernel, {{"M", 1024}, {"N", 4096}, {"K", 4096}, {"L", 4}}))));
  // For later GPUs it is passed over.
  const plan::Plan early = plan::make_plan(
      kernel_of(batch_last + "schedule batch_last for sm90 { outputs = \"permuted\" }\n"),
      *find_target("a100"));
  REQUIRE(early.problems.empty());
  CHECK(early.notes.size() == 1);
  CHECK(!is_permuted(plan::chosen_variant(
      early, sizes_of(*early.kernel, {{"M", 8}, {"N", 8}, {"K", 8}, {"L", 4}}))));
  // By mma.sync too.
  const plan::Plan ampere = planned(
      "schedule batch_last for sm80 { tile = (64,64,32), groups = (2,2,1,1), "
      "mma = sm80.mma(m = 16, k = 16, ab = bf16, acc = f32), outputs = \"permuted\" }\n");
  REQUIRE(ampere.problems.empty());
  REQUIRE(is_permuted(ampere.variants.front()));
  CHECK(trouble(ampere, ampere.variants.front(), call_of(ampere.kernel, 9, 16, 24, 4),
                sema::run_reference(call_of(ampere.kernel, 9, 16, 24, 4))) == "");
}

TEST_CASE("permuted outputs: a plan says what it writes where") {
  const plan::Plan plan = plan::make_plan(kernel_of(batch_last));
  const std::string text = plan::print_plan(plan);
  for (const char* said :
       {"// before: C_rows[l,m,n] = sum[k](", "outputs       = \"permuted\"",
        "// after batch_last_rows", "// a launch before writes the product's rows to workspace"})
    CHECK(text.find(said) != std::string::npos);
}

TEST_CASE("permuted outputs: mistakes of a schedule") {
  const auto message = [&](const std::string& text) {
    const plan::Plan plan = plan::make_plan(kernel_of(text));
    return plan.problems.empty() ? std::string() : plan.problems.front().message;
  };
  CHECK(message(batch_last + "schedule batch_last for sm90 { outputs = \"stored\" }\n")
            .find("\"direct\" or \"permuted\"") != std::string::npos);
  // A mistake of the product's schedule is found in the product that it is for.
  CHECK(message(batch_last +
                "schedule batch_last for sm90 { outputs = \"permuted\", tile = (64,64,64), "
                "mma = sm90.wgmma(n = 48, ab = bf16, acc = f32) }\n") != "");
  CHECK(message("kernel k<M, N, K>(A: bf16 (M,K), B: bf16 (N,K)) -> C: bf16 (M,N)\n"
                "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n"
                "schedule k for sm90 { outputs = \"permuted\" }\n")
            .find("`outputs` is permuted where") != std::string::npos);
}
