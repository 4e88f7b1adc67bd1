// Tile programs, from the script to CUDA: the golden text of a softmax of rows, and the
// variants of reductions.lay and norms.lay with wide accesses compiled, with everything in
// registers. LAY_BLESS=1 rewrites the golden; `git diff` is the review.
#include "tests/emitted/emitted.h"

#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"

using namespace lay::test;

namespace {

const auto script = source("tests/tile/reductions.lay");

std::vector<lay::cuda::Emitted> of_variant(const lay::plan::Plan& plan,
                                           const lay::plan::Variant& variant) {
  std::vector<lay::cuda::Emitted> launches;
  for (const lay::ir::Kernel& kernel : lay::ir::lower_all(plan, variant, {"reductions.lay", {}}))
    launches.push_back(emitted(kernel, "sm_90a"));
  return launches;
}

}  // namespace

TEST_CASE("a softmax of rows is emitted as the golden text") {
  for (const auto& kernel : kernels_of(script)) {
    if (kernel->name != "softmax_rows") continue;
    const auto plan = lay::plan::make_plan(kernel);
    REQUIRE(plan.problems.empty());
    const auto launches = of_variant(plan, plan.variants.front());
    REQUIRE(launches.size() == 1);
    return check_golden(launches[0].text, source("tests/tile/softmax_rows.cu"));
  }
  FAIL("reductions.lay has no softmax_rows");
}

TEST_CASE("tile programs compile, with everything in registers") {
  if (std::string why; !lay::runtime::can_compile(&why)) {
    WARN("skipped: " << why);
    return;
  }
  auto kernels = kernels_of(script);
  for (const auto& kernel : kernels_of(source("tests/tile/norms.lay"))) kernels.push_back(kernel);
  for (const auto& kernel : kernels) {
    const auto plan = lay::plan::make_plan(kernel);
    REQUIRE(plan.problems.empty());
    for (const auto& variant : plan.variants) {
      if (variant.aligned.empty()) continue;  // element by element ptxas may spill addresses
      INFO(kernel->name << ", variant " << variant.name);
      for (const auto& launch : of_variant(plan, variant))
        check_compiled(lay::runtime::compile(launch, *lay::find_target("sm_90a")));
    }
  }
}
