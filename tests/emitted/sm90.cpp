// Hopper's kernels compiled: everything in registers, and nothing that ptxas remarks on.
#include <algorithm>

#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "tests/emitted/emitted.h"

using namespace lay::test;

TEST_CASE("a planned Hopper GEMM as CUDA is the golden text") {
  const auto kernel = kernels_of(source("examples/07_hopper_gemm.lay")).at(0);
  const auto plan = lay::plan::make_plan(kernel);
  for (const auto& problem : plan.problems) FAIL(problem.message);
  REQUIRE(!plan.variants.empty());
  const auto& scheduled = plan.variants.front();
  REQUIRE(lay::plan::is_sm90(scheduled));
  check_golden(emitted(lay::ir::lower(plan, scheduled), "sm_90a").text,
               source("tests/emitted/sm90_linear.cu"));
}

TEST_CASE("a product with scales as CUDA is the golden text") {
  const auto kernels = kernels_of(source("tests/emitted/sm90.lay"));
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [](const auto& k) { return k->name == "scaled_blocks"; });
  REQUIRE(found != kernels.end());
  const auto plan = lay::plan::make_plan(*found);
  REQUIRE(!plan.variants.empty());
  check_golden(emitted(lay::ir::lower(plan, plan.variants.front()), "sm_90a").text,
               source("tests/emitted/sm90_scaled.cu"));
}

TEST_CASE("products that share a factor as CUDA are the golden text") {
  const auto kernels = kernels_of(source("tests/emitted/sm90.lay"));
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [](const auto& k) { return k->name == "gated"; });
  REQUIRE(found != kernels.end());
  const auto plan = lay::plan::make_plan(*found);
  REQUIRE(plan.problems.empty());
  check_golden(emitted(lay::ir::lower(plan, plan.variants.front()), "sm_90a").text,
               source("tests/emitted/sm90_gated.cu"));
}

TEST_CASE(
    "much arithmetic is written once for all passes, whose accumulators come to the same "
    "registers") {
  int found = 0;
  for (const lay::sema::KernelPtr& kernel : kernels_of(source("tests/emitted/sm90.lay"))) {
    const auto plan = lay::plan::make_plan(kernel);
    INFO(kernel->name);
    const std::string text = emitted(lay::ir::lower(plan, plan.variants.front()), "sm_90a").text;
    const bool rolled =
        text.find("#pragma unroll 1\n      for (int pass_ = 0; pass_ < 4; ++pass_)") !=
        std::string::npos;
    CHECK(rolled == (kernel->name == "activated"));
    CHECK((text.find("picked_[v_] = acc_[96 + v_];") != std::string::npos) == rolled);
    found += rolled;
  }
  CHECK(found == 1);
}

TEST_CASE(
    "a vector's elements are read once for the values that need them, neighbours together where "
    "they may be") {
  const auto kernels = kernels_of(source("tests/emitted/sm90.lay"));
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [](const auto& k) { return k->name == "activated"; });
  REQUIRE(found != kernels.end());
  const auto plan = lay::plan::make_plan(*found);
  REQUIRE(plan.variants.size() >= 2);
  const auto text_of = [&](std::size_t i) {
    return emitted(lay::ir::lower(plan, plan.variants[i]), "sm_90a").text;
  };
  CHECK(text_of(0).find("for (int e_ = 0; e_ < 4; e_ += 2) {") != std::string::npos);
  CHECK(text_of(0).find("*(unsigned*)&ahead1_[e_] = n_ + ") != std::string::npos);
  CHECK(plan.variants[0].aligned.back().bytes == 4);
  CHECK(text_of(1).find("for (int e_ = 0; e_ < 4; ++e_) {") != std::string::npos);
  CHECK(text_of(1).find("ahead1_[e_] = n_ + ") != std::string::npos);
}

TEST_CASE("what is done on one path only stays there") {
  for (const lay::sema::KernelPtr& kernel : kernels_of(source("tests/emitted/sm90.lay"))) {
    const auto plan = lay::plan::make_plan(kernel);
    const auto gemm = *lay::plan::sm90_of(plan.variants.front());
    INFO(kernel->name);
    const std::string text = emitted(lay::ir::lower(plan, plan.variants.front()), "sm_90a").text;
    const int picks = times(text, "picked_[v_] = acc_["),
              clears = gemm.promotion_interval || gemm.split ? 0 : 1;
    CHECK(times(text, "// stays a branch") == picks + clears);
    if (clears) CHECK(text.find("a sum of nothing") > text.find("the last stage"));
  }
}

TEST_CASE("roles are told apart by what the compiler knows to be the same in a warp") {
  for (const lay::sema::KernelPtr& kernel : kernels_of(source("tests/emitted/sm90.lay"))) {
    const auto plan = lay::plan::make_plan(kernel);
    const auto gemm = lay::plan::sm90_of(plan.variants.front());
    REQUIRE(gemm);
    INFO(kernel->name);
    const int consumers = gemm->consumers();
    const std::string text = emitted(lay::ir::lower(plan, plan.variants.front()), "sm_90a").text;
    const auto has = [&](const std::string& what) { return text.find(what) != std::string::npos; };
    CHECK(has("const int warpgroup = same_in_warp(thread / 128);"));
    CHECK(has("if (warpgroup == 0) {  // producer"));
    CHECK(has(consumers == 1 ? std::string("if (warpgroup == 1) {  // consumer")
                             : "if (warpgroup >= 1 && warpgroup < " +
                                   std::to_string(1 + consumers) + ") {  // consumer"));
    CHECK_FALSE(has("__shfl_sync(0xffffffff, thread"));
  }
}

TEST_CASE("kernels of the SM90 family compile, with everything in registers") {
  const bool compiles = lay::runtime::can_compile();
  if (!compiles) WARN("emitted, but not compiled: there is no CUDA compiler");
  for (const lay::sema::KernelPtr& kernel : kernels_of(source("tests/emitted/sm90.lay"))) {
    const auto plan = lay::plan::make_plan(kernel);
    for (const auto& problem : plan.problems) FAIL(problem.message);
    int taken = 0;
    for (const auto& variant : plan.variants) {
      if (!lay::plan::is_sm90(variant) || !variant.before.empty()) continue;
      INFO(kernel->name << ", variant " << variant.name);
      ++taken;
      const auto text = emitted(lay::ir::lower(plan, variant), "sm_90a");
      if (compiles) check_compiled(lay::runtime::compile(text, *lay::find_target("sm_90a")));
    }
    CHECK(taken == 2);  // where TMA stores the output, and where it does not
  }
}
