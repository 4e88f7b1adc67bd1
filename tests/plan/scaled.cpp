// Products with factors that are constant within groups of K: which kernels are, in which intervals
// they are added up, and what is refused.
#include <catch2/catch.hpp>

#include "backend/plan/make.h"
#include "backend/plan/print.h"
#include "backend/plan/recognise.h"
#include "backend/plan/scales/multiplicands.h"
#include "backend/plan/schedule/fitting.h"
#include "frontend/sema/kernel/kernel_call.h"
#include "frontend/sema/kernel/kernel_print.h"
#include "tests/language/script.h"

namespace lay::test {

namespace {

// The kernel with that sum over k, of operands and scales of these types; `more` is further
// parameters, `schedule` stands behind it.
sema::KernelPtr kernel_of(const std::string& sum, const std::string& narrow = "e4m3",
                          const std::string& more = "", const std::string& schedule = "") {
  const std::string operands = "A: " + narrow + " (M,512*K*G), B: " + narrow + " (128*N,512*K*G)",
                    scales = ", a: f32 (M,512*K*G), b: f32 (128*N,512*K*G)";
  sema::test::Script script("use atoms.sm90\nuse atoms.sm80\nkernel product<M, N, K, G>(" +
                            operands + scales + more + ") -> C: f32 (M,128*N)\n" +
                            "{ C[m,n] = sum[k](" + sum + ") }\n" + schedule);
  REQUIRE(script.messages == "");
  return script.evaluator.kernels().back();
}

// How the kernel is recognised: by the groups of its scales, or why it is no GEMM.
std::string recognised(const sema::KernelPtr& kernel) {
  const auto form = plan::recognise_scaled(kernel, plan::facts_of(*kernel));
  if (const auto* no = std::get_if<plan::NotGemm>(&form)) return no->reason;
  std::string text = "product";
  for (const plan::GroupScale& scale : std::get<plan::Gemm>(form).form.scales) {
    text += ",";
    for (const auto& each : scale.quotients) text += " " + each.group.to_string();
  }
  return text;
}

const plan::Sm90Gemm* hopper(const plan::Variant& variant) {
  return std::get_if<plan::Sm90Gemm>(&variant.how);
}

// The interval of the first variant, under a schedule of these entries; the problem where there is
// one, "none" where it has no scales.
std::string interval(const std::string& sum, const std::string& entries,
                     const std::string& narrow = "e4m3") {
  const plan::Plan plan =
      plan::make_plan(kernel_of(sum, narrow, "", "schedule product for sm90 { " + entries + " }"));
  if (!plan.problems.empty()) return plan.problems[0].code + ": " + plan.problems[0].message;
  const plan::Sm90Gemm* gemm = hopper(plan.variants.front());
  if (!gemm || gemm->scales.empty()) return "none";
  std::string text = std::to_string(gemm->promotion_interval);
  for (const plan::ProductScale& scale : gemm->scales) text += ", " + std::to_string(scale.count);
  return text;
}

}  // namespace

TEST_CASE("scales: factors that are constant within groups of k") {
  CHECK(recognised(kernel_of("A[m,k] * B[n,k]")) == "product");
  CHECK(recognised(kernel_of("a[m,k//128] * A[m,k] * B[n,k]")) == "product, 128");
  CHECK(recognised(kernel_of("a[m,k//128] * A[m,k] * (b[n//128,k//64] * B[n,k])")) ==
        "product, 128, 64");
  CHECK(recognised(kernel_of("exp(a[m,k//128] + b[n,k//32]) * A[m,k] * B[n,k]")) ==
        "product, 128 32");
  CHECK(recognised(kernel_of("a[m,k//G] * A[m,k] * B[n,k]")) == "product, G");
  // A factor that does not depend on k stands outside the sum, and is no scale.
  CHECK(recognised(kernel_of("a[m,0] * A[m,k] * b[n,1] * B[n,k]")) == "product");
  CHECK(recognised(kernel_of("a[m,0] * A[m,k] * b[n,k//128] * B[n,k]")) == "product, 128");
  CHECK(recognised(kernel_of("a[m,k//128] * (A[m,k] * B[n,k])", "s8")) == "product, 128");
  // k itself is in it, by a remainder or by a sum.
  for (const char* sum : {"a[m,k%128] * A[m,k] * B[n,k]", "a[m,(k+1)//128] * A[m,k] * B[n,k]",
                          "a[m,k//128] * f32(k) * A[m,k] * B[n,k]"}) {
    INFO(sum);
    CHECK(recognised(kernel_of(sum)).starts_with("a factor of the product is not a plain"));
  }
  // Three operands, and a scale that is a sum itself.
  CHECK(recognised(kernel_of("a[m,k] * A[m,k] * b[n,k//128] * B[n,k]"))
            .starts_with("its sum is over more than one index"));
  CHECK(recognised(kernel_of("sum[j](a[m,j]) * a[m,k//128] * A[m,k] * B[n,k]"))
            .starts_with("it has more than one reduction"));
}

TEST_CASE("scales: factors of rows and columns are multiplied after the sum") {
  const auto kernel = kernel_of("a[m,0] * A[m,k] * b[n,1] * B[n,k]");
  const auto apart = plan::with_factors_outside(*kernel);
  REQUIRE(apart);
  CHECK(!plan::with_factors_outside(*apart));
  const std::string text = sema::print(*apart);
  CHECK(text.find("mul(") < text.find("sum[k]"));
  CHECK(text.rfind("mul(") > text.find("sum[k]"));
  // A matrix times a vector keeps both: one factor is no product.
  CHECK(!plan::with_factors_outside(*kernel_of("a[m,0] * B[n,k]")));
  const plan::Plan plan = plan::make_plan(kernel);
  REQUIRE(hopper(plan.variants.front()));
  CHECK(hopper(plan.variants.front())->promotion_interval == 0);
  CHECK(hopper(plan.variants.front())->scales.empty());
}

TEST_CASE("scales: intervals lie in one group of each scale, and fit the tile") {
  const std::string both = "a[m,k//128] * A[m,k] * b[n//128,k//128] * B[n,k]";
  const std::string fp8 = "mma = sm90.wgmma(n = 64, ab = e4m3, acc = f32); groups = (1,1,1,1); ",
                    bf16 = "mma = sm90.wgmma(n = 64, ab = bf16, acc = f32); groups = (1,1,1,1); ";
  CHECK(interval(both, fp8 + "tile = (64,64,128)") == "128, 2, 1");
  CHECK(interval(both, fp8 + "tile = (64,64,64)") == "128, 2, 1");
  CHECK(interval(both, fp8 + "tile = (64,64,256)") == "128, 2, 1");
  CHECK(interval(both, fp8 + "tile = (64,64,64); promotion_interval = 64") == "64, 2, 1");
  CHECK(interval(both, fp8 + "tile = (64,64,64); alternate_k = 1") == "64, 2, 1");
  // 8-bit floats are promoted every 128 of K whatever the groups are; others when a group ends.
  const std::string long_groups = "a[m,k//512] * A[m,k] * B[n,k]";
  CHECK(interval(long_groups, fp8 + "tile = (64,64,128)") == "128, 2");
  CHECK(interval(long_groups, fp8 + "tile = (64,64,128); promotion_interval = 256") == "256, 2");
  CHECK(interval(long_groups, bf16 + "tile = (64,64,64)", "bf16") == "512, 2");
  // One number for each column, for columns in groups, and for rows in groups.
  CHECK(interval("A[m,k] * b[n,k//64] * B[n,k]", bf16 + "tile = (64,64,64)", "bf16") == "64, 16");
  CHECK(interval("A[m,k] * b[n//16,k//64] * B[n,k]", bf16 + "tile = (64,64,64)", "bf16") ==
        "64, 4");
  CHECK(interval("A[m,k] * a[m//16,k//64] * B[n,k]", bf16 + "tile = (64,64,64)", "bf16") ==
        "64, 1");
  CHECK(interval("A[m,k] * b[n//48,k//64] * B[n,k]", bf16 + "tile = (64,64,64)", "bf16") ==
        "64, 4");

  CHECK(interval(both, fp8 + "tile = (64,64,128); promotion_interval = 256") ==
        "schedule-cover: scales change every 128 elements of K, within intervals of 256");
  CHECK(interval(long_groups, fp8 + "tile = (64,64,64); promotion_interval = 256; alternate_k = 1")
            .starts_with("schedule-cover: intervals of several K tiles do not end where groups"));
  CHECK(interval("a[m,k//16] * A[m,k] * B[n,k]", fp8 + "tile = (64,64,128)") ==
        "schedule-cover: scales change every 16 elements of K, which K tiles of 128 in steps of 32 "
        "have no equal part of");
  CHECK(interval("exp(a[m,k//128] + b[n,k//128]) * A[m,k] * B[n,k]",
                 "mma = sm90.wgmma(n = 256, ab = e4m3, acc = f32); groups = (2,1,1,1); "
                 "tile = (128,256,128)")
            .starts_with("schedule-registers: a scale has 128 numbers for the accumulators"));
  CHECK(interval(both,
                 "mma = sm90.wgmma(n = 256, ab = e4m3, acc = f32); groups = (2,1,1,1); "
                 "tile = (128,256,128)")
            .find("128 accumulators") == std::string::npos);
}

TEST_CASE("scales: groups whose size is known at launch are whole intervals there") {
  const plan::Plan plan = plan::make_plan(kernel_of("a[m,k//G] * A[m,k] * B[n,k]"));
  REQUIRE(plan.problems.empty());
  const plan::Variant& first = plan.variants.front();
  REQUIRE(hopper(first));
  CHECK(std::any_of(first.when.begin(), first.when.end(), [](const Predicate& condition) {
    return condition.to_string().find("G % ") != std::string::npos;
  }));
  const auto taken = [&](int group) {
    const Binding sizes =
        sema::solve_sizes(*plan.kernel, {}, {{"M", 64}, {"N", 1}, {"K", 1}, {"G", group}});
    return plan::chosen_variant(plan, sizes).name;
  };
  CHECK(taken(512).starts_with("sm90"));
  CHECK(!taken(96).starts_with("sm90"));
}

TEST_CASE("scales: a schedule for other GPUs is of the launches behind") {
  const std::string sum = "a[m,k//128] * A[m,k] * B[n,k]";
  const std::string of_sm90 =
      "schedule product for sm90 when M >= 64 { tile = (64,64,128); "
      "mma = sm90.wgmma(n = 64, ab = e4m3, acc = f32); groups = (1,1,1,1) }\n";
  const std::string of_simt = "schedule product for simt { tile = (64,64,16) }\n";
  const plan::Plan plan = plan::make_plan(kernel_of(sum, "e4m3", "", of_sm90 + of_simt));
  REQUIRE(plan.problems.empty());
  bool scaled = false, behind = false;
  for (const plan::Variant& variant : plan.variants) {
    const bool has = hopper(variant) && !hopper(variant)->scales.empty();
    CHECK(!(has && behind));  // variants with scales come first
    scaled = scaled || has;
    behind = behind || std::holds_alternative<plan::SimtGemm>(variant.how);
  }
  CHECK(scaled);
  CHECK(behind);
}

}  // namespace lay::test
