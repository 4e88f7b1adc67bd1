// The CUDA of the SM80 family: goldens, and every kernel of tests/agreement/sm80.lay
// and mixed.lay, and those of scaled.lay that are for it, compiled with everything in registers.
#include <algorithm>

#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "tests/emitted/emitted.h"

using namespace lay::test;

namespace {

const auto script = source("tests/agreement/sm80.lay");
const auto types = source("tests/agreement/products/types.lay");

// The kernels of products with scales whose schedules are for this family.
std::vector<lay::sema::KernelPtr> scaled_kernels() {
  auto kernels = kernels_of(source("tests/agreement/products/scaled.lay"));
  std::erase_if(kernels, [](const auto& each) { return !each->name.starts_with("sm80_"); });
  return kernels;
}

}  // namespace

TEST_CASE("the SM80 family as CUDA is the golden text") {
  const auto kernel = kernels_of(script).at(0);
  const auto plan = lay::plan::make_plan(kernel);
  REQUIRE(plan.variants.size() == 2);
  check_golden(emitted(lay::ir::lower(plan, plan.variants[0]), "sm_80").text,
               source("tests/emitted/sm80_rows.cu"));
}

TEST_CASE("a product with scales of the SM80 family as CUDA is the golden text") {
  const auto kernel = scaled_kernels().at(0);
  const auto plan = lay::plan::make_plan(kernel);
  REQUIRE(plan.variants.size() == 2);
  check_golden(emitted(lay::ir::lower(plan, plan.variants[0]), "sm_80").text,
               source("tests/emitted/sm80_scaled.cu"));
}

TEST_CASE("products of other types of the SM80 family as CUDA are the golden text") {
  for (const auto& kernel : kernels_of(types)) {
    if (kernel->name != "s8_tt" && kernel->name != "tf32_tn" && kernel->name != "f64_tt") continue;
    const auto plan = lay::plan::make_plan(kernel, *lay::find_target("a100"));
    const auto variant = std::find_if(plan.variants.begin(), plan.variants.end(),
                                      [](const auto& each) { return each.name == "sm80_64x64"; });
    REQUIRE(variant != plan.variants.end());
    check_golden(emitted(lay::ir::lower(plan, *variant), "sm_80").text,
                 source("tests/emitted/sm80_" + kernel->name + ".cu"));
  }
}

TEST_CASE("the library's largest tiles of every type compile, with everything in registers") {
  if (!lay::runtime::can_compile()) {
    WARN("not compiled: there is no CUDA compiler");
    return;
  }
  int count = 0;
  for (const auto& kernel : kernels_of(types)) {
    for (const char* name : {"a100", "l40s", "h200"}) {
      const lay::Target& target = *lay::find_target(name);
      const auto plan = lay::plan::make_plan(kernel, target);
      for (const auto& variant : plan.variants) {
        const auto gemm = lay::plan::sm80_of(variant);
        if (!gemm || gemm->tile[0] * gemm->tile[1] < 64 * 128) continue;
        // Code for compute capability 8.9 is that for 8.0 but for bytes in floating point.
        if (std::string(name) == "l40s" && gemm->mma.since < 89) continue;
        INFO(kernel->name << ", variant " << variant.name << ", for " << name);
        const auto text = emitted(lay::ir::lower(plan, variant), target.architecture);
        const auto made = lay::runtime::compile(text, target);
        INFO(made.log);
        CHECK(made.ok());
        CHECK(made.resources.stack_bytes == 0);
        ++count;
      }
    }
  }
  CHECK(count > 80);
}

TEST_CASE("kernels of the SM80 family compile, with everything in registers") {
  const bool compiles = lay::runtime::can_compile();
  if (!compiles) WARN("emitted, but not compiled: there is no CUDA compiler");
  auto kernels = kernels_of(script);
  for (const auto& each : kernels_of(source("tests/agreement/mixed.lay"))) kernels.push_back(each);
  // Behind its schedule one of these has the library's rows.
  for (const auto& each : scaled_kernels()) kernels.push_back(each);
  for (const lay::sema::KernelPtr& kernel : kernels) {
    // 8-bit floats are converted by instructions of compute capability 8.9.
    const bool needs_89 =
        std::any_of(kernel->tensors.begin(), kernel->tensors.end(), [](const auto& each) {
          return each.element == lay::ElementType::e4m3 || each.element == lay::ElementType::e5m2;
        });
    for (const char* name : {needs_89 ? "sm_89" : "sm_80", "sm_90a"}) {
      const lay::Target& target = *lay::find_target(name);
      const auto plan = lay::plan::make_plan(kernel, target);
      for (const auto& problem : plan.problems) FAIL(problem.message);
      for (const auto& variant : plan.variants) {
        if (!lay::plan::sm80_of(variant)) continue;
        INFO(kernel->name << ", variant " << variant.name << ", for " << name);
        const auto text = emitted(lay::ir::lower(plan, variant), name);
        if (!compiles) continue;
        const auto made = lay::runtime::compile(text, target);
        INFO(made.log);
        CHECK(made.ok());
        CHECK(made.resources.stack_bytes == 0);
      }
    }
  }
}

// Whether a launch may overlap the one before is asked of an image: below compute capability 9.0
// there is no such wait, and pointers are told apart as in any other kernel.
TEST_CASE("products and copies overlap the launches before them on Hopper alone") {
  const auto kernels = kernels_in(
      "f.lay",
      "kernel f<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1)) -> C: bf16 (M,N):(N,1)\n"
      "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n"
      "kernel g<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1), R: bf16 (M,N):(N,1))\n"
      "    -> C: bf16 (M,N):(N,1)\n"
      "{ C[m,n] = sum[k](A[m,k] * B[n,k]) + R[m,n] }\n");
  const std::string wait = "griddepcontrol.wait";
  const auto overlaps = [&](const lay::cuda::Emitted& made) {
    CHECK(made.overlaps == (times(made.text, wait) == 1));
    CHECK(made.overlaps == (times(made.text, "__restrict__") == 0));
    return made.overlaps;
  };
  // By mma.sync: the plan of an A100, whose kernels Hopper runs too.
  int found = 0;
  for (const lay::sema::KernelPtr& kernel : kernels) {
    const lay::plan::Plan plan = lay::plan::make_plan(kernel, *lay::find_target("a100"));
    for (const lay::plan::Variant& variant : plan.variants) {
      if (!lay::plan::sm80_of(variant)) continue;
      ++found;
      const lay::ir::Kernel lowered = lay::ir::lower(plan, variant);
      INFO(kernel->name << " by " << variant.name);
      CHECK(!overlaps(emitted(lowered, "sm_80")));
      // An epilogue that reads would wait for each element that it has stored.
      CHECK(overlaps(emitted(lowered, "sm_90a")) == (kernel->name == "f"));
    }
  }
  CHECK(found >= 4);
  // Copies before a product by wgmma.
  const lay::plan::Plan plan = lay::plan::make_plan(kernels.front());
  for (const lay::plan::Variant& variant : plan.variants) {
    if (variant.before.empty()) continue;
    for (const lay::ir::Kernel& lowered : lay::ir::lower_all(plan, variant))
      CHECK(overlaps(emitted(lowered, "sm_90a")));
    return;
  }
  FAIL("no variant copies its factors");
}
