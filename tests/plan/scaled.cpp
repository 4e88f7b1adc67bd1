// Products with factors that are constant within groups of K: which kernels are, in which intervals
// they are added up, and what is refused.
#include <catch2/catch.hpp>

#include "backend/plan/make.h"
#include "backend/plan/print.h"
#include "backend/plan/recognise.h"
#include "backend/plan/scales/multiplicands.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/simt/bind_simt.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
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

std::optional<plan::Sm90Gemm> hopper(const plan::Variant& variant) {
  return plan::sm90_of(variant);
}

std::optional<plan::TensorGemm> on_tensor_cores(const plan::Variant& variant) {
  if (const auto gemm = hopper(variant)) return *gemm;
  return plan::sm80_of(variant);
}

// The interval of the first variant, under a schedule of these entries; the problem where there is
// one, "none" where it has no scales.
std::string interval(const std::string& sum, const std::string& entries,
                     const std::string& narrow = "e4m3", const std::string& family = "sm90") {
  const plan::Plan plan = plan::make_plan(
      kernel_of(sum, narrow, "", "schedule product for " + family + " { " + entries + " }"));
  if (!plan.problems.empty()) return plan.problems[0].code + ": " + plan.problems[0].message;
  const auto gemm = on_tensor_cores(plan.variants.front());
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

TEST_CASE("scales: intervals of mma.sync lie in what a slice has of a K tile, or in whole ones") {
  const std::string rows = "a[m,k//128] * A[m,k] * B[n,k]",
                    columns = "A[m,k] * (b[n,k//128] * B[n,k])",
                    atom = "mma = sm80.mma(m = 16, k = 16, ab = bf16, acc = f32); ";
  const auto of = [&](const std::string& sum, const std::string& entries) {
    return interval(sum, atom + entries, "bf16", "sm80");
  };
  const std::string whole = "tile = (32,32,64); groups = (2,2,1,1)",
                    slices = "tile = (32,32,256); groups = (1,1,4,1)";
  CHECK(of(rows, whole) == "128, 2");
  CHECK(of(columns, whole) == "128, 4");
  CHECK(of(rows, whole + "; promotion_interval = 32") == "32, 2");
  CHECK(of(columns, "tile = (32,32,256); groups = (2,2,1,1)") == "128, 4");
  CHECK(of("a[m,k//96] * A[m,k] * B[n,k]", whole) == "32, 2");
  CHECK(of("a[m//16,k//128] * A[m,k] * (b[n//32,k//64] * B[n,k])", whole) == "64, 1, 1");
  // Four slices have 64 of a K tile each: an interval may be a part of that, several of them, or
  // whole K tiles.
  CHECK(of(columns, slices) == "64, 8");
  CHECK(of(columns, slices + "; promotion_interval = 16") == "16, 8");
  CHECK(of(columns, slices + "; promotion_interval = 128") == "128, 8");
  CHECK(of("A[m,k] * (b[n,k//512] * B[n,k])", slices) == "512, 8");
  CHECK(of("A[m,k] * B[n,k]", slices + "; promotion_interval = 32") == "none");

  CHECK(of(columns, slices + "; promotion_interval = 256") ==
        "schedule-cover: scales change every 128 elements of K, within intervals of 256");
  CHECK(of("A[m,k] * B[n,k]", slices + "; promotion_interval = 96") ==
        "schedule-cover: 96 elements of K are neither whole tiles of 256 nor, in steps of 16, an "
        "equal part of the 64 that each of 4 slices has of one");
  CHECK(of("A[m,k] * B[n,k]", whole + "; promotion_interval = 96") ==
        "schedule-cover: 96 elements of K are neither whole tiles of 64 nor an equal part of one "
        "in steps of 16");
  CHECK(of("a[m,k//24] * A[m,k] * B[n,k]", whole) ==
        "schedule-cover: scales change every 24 elements of K, which K tiles of 64 in steps of 16 "
        "have no equal part of");
  CHECK(of("a[m,k//24] * A[m,k] * B[n,k]", slices) ==
        "schedule-cover: scales change every 24 elements of K, which slices of 64 in steps of 16 "
        "have no equal part of");
  // Totals and scales leave room for those of one side in the largest tile.
  const std::string large = "tile = (128,128,32); groups = (2,4,1,1)";
  CHECK(of(columns, large) == "128, 8");
  CHECK(of("a[m,k//128] * A[m,k] * (b[n,k//128] * B[n,k])", large)
            .starts_with("schedule-registers: the tile takes at least"));
  CHECK(interval("a[m,k//64] * (A[m,k] * B[n,k])",
                 "mma = sm80.mma(m = 16, k = 32, ab = s8, acc = s32); "
                 "tile = (32,32,128); groups = (2,1,2,1)",
                 "s8", "sm80") == "64, 2");
}

TEST_CASE("scales: operands of two widths, and GPUs before Hopper, take them by mma.sync") {
  const auto variants = [](const std::string& narrow, const std::string& group, const char* gpu) {
    sema::test::Script script("kernel product<M, N, K, G>(X: bf16 (M,K), W: " + narrow +
                              " (N,K), s: bf16 (N,K)) -> Y: bf16 (M,N)\n" +
                              "{ Y[m,n] = sum[k](X[m,k] * (s[n,k//" + group + "] * W[n,k])) }");
    REQUIRE(script.messages == "");
    return plan::make_plan(script.evaluator.kernels().back(), *find_target(gpu)).variants;
  };
  using Names = std::vector<std::string>;
  const auto names = [&](const std::string& narrow, const char* gpu) {
    Names made;
    for (const plan::Variant& variant : variants(narrow, "128", gpu)) {
      made.push_back(variant.name);
      CHECK(on_tensor_cores(variant));
      CHECK(on_tensor_cores(variant)->scales.size() == 1);
    }
    return made;
  };
  const Names by_mma{"sm80_few_rows_8", "sm80_few_rows_16", "sm80_some_rows", "sm80_skinny",
                     "sm80_wide",       "sm80_small",       "sm80_wide_any",  "sm80_small_any"};
  // On Hopper those of wgmma stand before them, with accesses of vectors and of elements.
  Names on_hopper;
  for (const char* accesses : {"", "_any"})
    for (const char* row :
         {"32x64", "32x64_split_2", "64x64", "64x64_split_2", "128x64", "128x128_1x2"})
      on_hopper.push_back("sm90_" + std::string(row) + accesses);
  on_hopper.insert(on_hopper.end(), by_mma.begin(), by_mma.end());
  for (const char* narrow : {"s8", "u8", "e4m3"}) CHECK(names(narrow, "h200") == on_hopper);
  Names on_ampere = by_mma;
  on_ampere[3] = "sm80_skinny_128";
  CHECK(names("s8", "a100") == on_ampere);
  // Of the portfolio what has registers for totals beside the sums.
  const Names halves = names("bf16", "a100");
  const auto has = [&](const char* name) {
    return std::find(halves.begin(), halves.end(), name) != halves.end();
  };
  CHECK(halves.front() == "sm80_128x128_8_warps");
  for (const char* name : {"sm80_64x64", "sm80_64x64_any", "sm80_16x64_few_rows"}) CHECK(has(name));
  for (const char* name : {"sm80_256x128", "sm80_128x256", "sm80_128x128"}) CHECK(!has(name));
  // Groups whose size is no number are whole parts of a slice where the launch takes the variant;
  // behind them other launches compute the scaled operand.
  const auto of_size = variants("s8", "G", "h200");
  const auto few = std::find_if(of_size.begin(), of_size.end(), [](const plan::Variant& each) {
    return each.name == "sm80_few_rows_8";
  });
  REQUIRE(few != of_size.end());
  CHECK(std::any_of(few->when.begin(), few->when.end(),
                    [](const Predicate& each) { return each.to_string() == "G % 128 == 0"; }));
  CHECK(!on_tensor_cores(of_size.back()));
  // Groups of less than a step of the atom have no interval.
  for (const plan::Variant& variant : variants("s8", "8", "h200"))
    CHECK((!on_tensor_cores(variant) || on_tensor_cores(variant)->scales.empty()));
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
    behind = behind || plan::simt_of(variant).has_value();
  }
  CHECK(scaled);
  CHECK(behind);
}

}  // namespace lay::test
