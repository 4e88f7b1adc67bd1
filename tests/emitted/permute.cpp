// Permute kernels, from the script to CUDA: the golden text of permute.lay's kernels, and every
// variant compiled, with everything in registers. LAY_BLESS=1 rewrites the goldens; `git diff` is
// the review.
#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "tests/emitted/emitted.h"

using namespace lay::test;

namespace {

const auto script = source("tests/emitted/permute.lay");

lay::cuda::Emitted of_variant(const lay::plan::Plan& plan, const lay::plan::Variant& variant) {
  return emitted(lay::ir::lower(plan, variant, {"permute.lay", {}}), "sm_90a");
}

}  // namespace

TEST_CASE("permute kernels are emitted as the golden text") {
  const auto all = kernels_of(script);
  REQUIRE(!all.empty());
  for (const auto& kernel : all) {
    const auto plan = lay::plan::make_plan(kernel);
    REQUIRE(plan.problems.empty());
    check_golden(of_variant(plan, plan.variants[0]).text,
                 source("tests/emitted/" + kernel->name + ".cu"));
  }
}

TEST_CASE("permute kernels compile, with everything in registers") {
  if (std::string why; !lay::runtime::can_compile(&why)) {
    WARN("skipped: " << why);
    return;
  }
  for (const auto& kernel : kernels_of(script)) {
    const auto plan = lay::plan::make_plan(kernel);
    REQUIRE(plan.problems.empty());
    for (const auto& variant : plan.variants) {
      const auto made =
          lay::runtime::compile(of_variant(plan, variant), *lay::find_target("sm_90a"));
      INFO(kernel->name << ", variant " << variant.name);
      check_compiled(made);
    }
  }
}
