// The schedule entry `tail`: what it goes with, the launch and the workspace that it adds, its
// print, and its forecast.
#include <algorithm>
#include <catch2/catch.hpp>

#include "backend/plan/make.h"
#include "backend/plan/model/forecast.h"
#include "backend/plan/print.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "tests/language/script.h"

namespace lay::test {
namespace {

const std::string plain =
    "use atoms.sm90\nkernel f<M, N, K>(A: bf16 (M,K), B: bf16 (N,K)) -> C: bf16 (M,N) "
    "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n";
const std::string atom = "mma = sm90.wgmma(n = 128, ab = bf16, acc = f32); ";

plan::Plan planned(const std::string& kernel, const std::string& entries) {
  sema::test::Script script(kernel + "schedule f for sm90 { " + entries + " }");
  REQUIRE(script.messages == "");
  return plan::make_plan(script.evaluator.kernels().back());
}

std::string problem(const std::string& entries, const std::string& kernel = plain) {
  std::string text;
  for (const plan::Problem& each : planned(kernel, entries).problems) {
    text += each.code + ": " + each.message;
    for (const auto& [kind, note] : each.notes) text += "; " + kind + ": " + note;
  }
  return text;
}

}  // namespace

TEST_CASE("a tail has 2 to 16 parts, and says what it does not go with") {
  const std::string with = "unsupported: a tail in parts does not go with ";
  CHECK(problem(atom + "tail = 2") == "");
  CHECK(problem(atom + "tail = 16") == "");
  for (const char* parts : {"0", "1", "17", "(2,2)"})
    CHECK(problem(atom + "tail = " + parts) ==
          "schedule-entry: `tail` takes the parts of K of a tile in a last wave that is not "
          "whole, 2 to 16");
  CHECK(problem(atom + "tail = 2; tile = (64,128,64); groups = (1,1,1,2)") ==
        with + "groups over successive tiles; help: write 1 for the last number");
  CHECK(problem(atom + "tail = 2; cluster = (1,1,2)") ==
        with + "blocks that share K; help: write two numbers, or leave `tail` out");
  CHECK(problem(atom + "tail = 2; alternate_k = 1") ==
        with + "tiles that go through K from its end; help: leave `alternate_k` out");
  CHECK(problem("mma = sm90.wgmma(n = 64, ab = bf16, acc = f32); tail = 2; "
                "promotion_interval = 64") == with + "sums in intervals; help: leave `tail` out");
  CHECK(problem(atom + "tail = 2",
                "use atoms.sm90\nkernel f<M, N, K>(A: bf16 (M,K), B: bf16 (N,K)) -> C: bf16 (M,N) "
                "{ C[m,n] = if n <= m then sum[k](A[m,k] * B[n,k]) else 0 }\n") ==
        with + "a mask, whose tiles differ; help: leave `tail` out");
  CHECK(problem("mma = sm90.wgmma(n = 64, ab = bf16, acc = f32); tail = 2",
                "use atoms.sm90\nkernel f<M, N, K>(A: bf16 (M,K), B: bf16 (N,K), D: bf16 (N,K)) "
                "-> C: bf16 (M,N) "
                "{ C[m,n] = sum[k](A[m,k] * B[n,k]) * sum[k](A[m,k] * D[n,k]) }\n") ==
        with + "several products in one launch; help: leave `tail` out");
}

TEST_CASE("a tail adds one launch that sets numbers to 0, and workspace of a known size") {
  const plan::Plan plan = planned(plain, atom +
                                             "accesses = \"vectors\"; tile = (128,128,64); "
                                             "cluster = (2,1); tail = 4");
  REQUIRE(plan.problems.empty());
  const plan::Variant& variant = plan.variants.front();
  REQUIRE(variant.before.size() == 1);
  REQUIRE(variant.before[0]->variants.size() == 1);
  CHECK(variant.before[0]->variants[0].when.empty());
  CHECK(variant.before[0]->variants[0].aligned.empty());
  // A number for each of 2 warpgroups of 132 blocks; 3 * 132 tiles of 128 x 128 sums.
  REQUIRE(variant.workspace_tensors.size() == 2);
  CHECK(variant.workspace_tensors[0].name == "tail_counts");
  CHECK(variant.workspace_tensors[1].offset.is(1152));
  CHECK(variant.workspace.is(1152 + 3 * 132 * 128 * 128 * 4));
  const auto lines = plan::schedule_lines(plan, variant);
  for (const char* line : {"  tail          = 4", "// after zeros"})
    CHECK(std::ranges::find(lines, line) != lines.end());
  // Pasted back it is the same plan.
  std::string pasted = plain;
  for (const std::string& line : lines) pasted += line + "\n";
  sema::test::Script script(pasted);
  REQUIRE(script.messages == "");
  const plan::Plan again = plan::make_plan(script.evaluator.kernels().back());
  REQUIRE(again.problems.empty());
  CHECK(plan::sm90_of(again.variants.front()) == plan::sm90_of(variant));
}

TEST_CASE("rows of the library take a tail where they can, under a schedule without an atom") {
  const plan::Plan plan = planned(plain, "tail = 3");
  REQUIRE(plan.problems.empty());
  int tails = 0;
  for (const plan::Variant& variant : plan.variants) {
    const auto gemm = plan::sm90_of(variant);
    if (!gemm || variant.name.find("own") == std::string::npos) continue;
    CHECK(gemm->tail == 3);
    ++tails;
  }
  CHECK(tails > 5);
}

TEST_CASE("a tail that shares a last wave is forecast to take less of a wave") {
  const Target target = default_target();
  // 70 tiles of 66 clusters: 4 are cut into quarters of K, a turn of all clusters.
  const std::string tile = "accesses = \"vectors\"; tile = (128,256,64); cluster = (2,1)";
  const std::string wide = "mma = sm90.wgmma(n = 256, ab = bf16, acc = f32); " + tile;
  const auto of = [&](const std::string& entries) {
    const plan::Plan plan = planned(plain, entries);
    REQUIRE(plan.problems.empty());
    Binding sizes;
    for (const sema::Dim& dim : plan.kernel->dims)
      sizes[*dim.symbol.dim_id()] = dim.name == "M" ? 2560 : dim.name == "N" ? 1792 : 4096;
    const auto all = plan::forecast(plan, plan.variants.front(), sizes, target);
    REQUIRE(all);
    return all->back();
  };
  const plan::Forecast whole = of(wide), cut = of(wide + "; tail = 4");
  CHECK(whole.most == 2);
  CHECK(cut.most == 2);
  CHECK(cut.products == Approx(whole.products * 1.25 / 2));
  CHECK(cut.cache_bytes - whole.cache_bytes == Approx(2.0 * 4 * 4 * 4 * 256 * 256));
}

}  // namespace lay::test
