// What the SM80 family becomes in CUDA: a golden, and every kernel of tests/agreement/sm80.lay compiled with everything
// in registers.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "backend/cuda/emit.h"
#include "backend/ir/lower.h"
#include "backend/plan/make.h"
#include "frontend/sema/evaluator.h"
#include "runtime/compile.h"

namespace {

std::string contents(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<lay::sema::KernelPtr> kernels() {
  lay::Sources sources;
  lay::sema::Evaluator evaluator(sources, {});
  const std::string file = LAY_SOURCE_DIR "/tests/agreement/sm80.lay";
  for (const lay::sema::Outcome& outcome : evaluator.run("sm80.lay", contents(file))) {
    INFO(render(sources, outcome.diagnostics));
    REQUIRE(outcome.ok());
  }
  return evaluator.kernels();
}

lay::cuda::Emitted emitted(const lay::ir::Kernel& kernel, std::string_view target) {
  const auto result = lay::cuda::emit(kernel, *lay::cuda::find_target(target));
  if (const auto* problem = std::get_if<lay::cuda::Problem>(&result)) FAIL(problem->message);
  return std::get<lay::cuda::Emitted>(result);
}

}  // namespace

TEST_CASE("the SM80 family as CUDA is the golden text") {
  const auto kernel = kernels().at(0);
  const auto plan = lay::plan::make_plan(kernel);
  REQUIRE(plan.variants.size() == 2);
  const std::string text = emitted(lay::ir::lower(plan, plan.variants[0]), "sm_80").text;
  const std::string golden = LAY_SOURCE_DIR "/tests/emitted/sm80_rows.cu";
  if (std::getenv("LAY_BLESS")) std::ofstream(golden, std::ios::binary) << text;
  CHECK(text == contents(golden));
}

TEST_CASE("kernels of the SM80 family compile, with everything in registers") {
  const bool compiles = lay::runtime::can_compile();
  if (!compiles) WARN("emitted, but not compiled: there is no CUDA compiler");
  for (const lay::sema::KernelPtr& kernel : kernels()) {
    const auto plan = lay::plan::make_plan(kernel);
    for (const auto& problem : plan.problems) FAIL(problem.message);
    for (const auto& variant : plan.variants) {
      if (!std::holds_alternative<lay::plan::Sm80Gemm>(variant.how)) continue;
      const auto lowered = lay::ir::lower(plan, variant);
      for (const char* name : {"sm_80", "sm_90a"}) {
        INFO(kernel->name << ", variant " << variant.name << ", for " << name);
        const auto text = emitted(lowered, name);
        if (!compiles) continue;
        const auto made = lay::runtime::compile(text, *lay::cuda::find_target(name));
        INFO(made.log);
        CHECK(made.ok());
        CHECK(made.resources.stack_bytes == 0);
      }
    }
  }
}
