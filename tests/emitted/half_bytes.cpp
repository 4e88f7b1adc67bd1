// Inputs of 4 bits as CUDA: a golden text, and every variant of the kernels of
// tests/agreement/half_bytes.lay compiled with everything in registers.
#include <algorithm>

#include "backend/ir/lower/lower.h"
#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/make.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "tests/emitted/emitted.h"

using namespace lay::test;

namespace {

const auto script = source("tests/agreement/half_bytes.lay");

lay::sema::KernelPtr kernel_called(const std::string& name) {
  for (const lay::sema::KernelPtr& each : kernels_of(script))
    if (each->name == name) return each;
  FAIL("no kernel " << name);
  return nullptr;
}

}  // namespace

TEST_CASE("a product of weights of 4 bits with scales as CUDA is the golden text") {
  const auto plan = lay::plan::make_plan(kernel_called("groups"), *lay::find_target("a100"));
  const auto few = std::find_if(plan.variants.begin(), plan.variants.end(),
                                [](const auto& each) { return each.name == "sm80_few_rows_8"; });
  REQUIRE(few != plan.variants.end());
  check_golden(emitted(lay::ir::lower(plan, *few), "sm_80").text,
               source("tests/emitted/half_bytes.cu"));
}

TEST_CASE("rows of integers of 4 bits as CUDA are read in whole bytes") {
  const auto plan = lay::plan::make_plan(kernel_called("row_sum"));
  const auto streamed = std::find_if(plan.variants.begin(), plan.variants.end(),
                                     [](const auto& each) { return each.name == "streamed"; });
  REQUIRE(streamed != plan.variants.end());
  const std::string text = emitted(lay::ir::lower(plan, *streamed), "sm_90a").text;
  CHECK(text.find("const unsigned char* __restrict__ X_") != std::string::npos);
  CHECK(text.find("*(const uint2*)&X_[(") != std::string::npos);
  CHECK(text.find("s4_at(tile_X_, ") != std::string::npos);
}

TEST_CASE("kernels of integers of 4 bits compile, with everything in registers") {
  if (!lay::runtime::can_compile()) {
    WARN("emitted, but not compiled: there is no CUDA compiler");
    return;
  }
  const lay::Target& target = *lay::find_target("h100");
  for (const lay::sema::KernelPtr& kernel : kernels_of(script)) {
    const auto plan = lay::plan::make_plan(kernel, target);
    for (const auto& problem : plan.problems) FAIL(problem.message);
    // The widest accesses come first, the general paths last; of two products all on tensor cores.
    for (const auto& variant : plan.variants) {
      const bool every = kernel->name == "w4a16" || kernel->name == "groups";
      const bool of_tensor_cores = lay::plan::sm80_of(variant).has_value();
      if (&variant != &plan.variants.front() && &variant != &plan.variants.back() &&
          !(every && of_tensor_cores))
        continue;
      INFO(kernel->name << ", variant " << variant.name);
      for (const lay::ir::Kernel& launch : lay::ir::lower_all(plan, variant)) {
        const auto made = lay::runtime::compile(emitted(launch, "sm_90a"), target);
        INFO(made.log);
        CHECK(made.ok());
        CHECK(made.resources.stack_bytes == 0);
        CHECK(made.resources.spill_store_bytes == 0);
      }
    }
  }
}
