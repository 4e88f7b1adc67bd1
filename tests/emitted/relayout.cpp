// Changes of layout, from the script to CUDA: the golden text of relayout.lay's kernels, and every variant compiled,
// with everything in registers. LAY_BLESS=1 rewrites the goldens; `git diff` is the review.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backend/cuda/emit.h"
#include "backend/ir/lower.h"
#include "backend/plan/make.h"
#include "frontend/sema/evaluator.h"
#include "runtime/compile.h"

namespace {

namespace fs = std::filesystem;

const fs::path folder = fs::path(LAY_SOURCE_DIR) / "tests/emitted";

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<lay::sema::KernelPtr> kernels(const fs::path& script) {
  lay::Sources sources;
  lay::sema::Evaluator evaluator(sources, {}, {lay::sema::Mode::check, {}});
  for (const auto& outcome : evaluator.run(script.filename().string(), contents(script)))
    for (const lay::Diagnostic& each : outcome.diagnostics.list()) FAIL(each.message);
  return evaluator.kernels();
}

lay::cuda::Emitted emitted(const lay::plan::Plan& plan, const lay::plan::Variant& variant) {
  const auto kernel = lay::ir::lower(plan, variant, {"relayout.lay", {}});
  const auto result = lay::cuda::emit(kernel, *lay::cuda::find_target("sm_90a"));
  if (const auto* problem = std::get_if<lay::cuda::Problem>(&result)) FAIL(problem->message);
  return std::get<lay::cuda::Emitted>(result);
}

}  // namespace

TEST_CASE("changes of layout are emitted as the golden text") {
  const auto all = kernels(folder / "relayout.lay");
  REQUIRE(!all.empty());
  for (const auto& kernel : all) {
    const auto plan = lay::plan::make_plan(kernel);
    REQUIRE(plan.problems.empty());
    const std::string text = emitted(plan, plan.variants[0]).text;
    const fs::path golden = folder / (kernel->name + ".cu");
    if (std::getenv("LAY_BLESS")) std::ofstream(golden, std::ios::binary) << text;
    INFO(golden.filename().string());
    CHECK(text == contents(golden));
  }
}

TEST_CASE("changes of layout compile, with everything in registers") {
  if (std::string why; !lay::runtime::can_compile(&why)) {
    WARN("skipped: " << why);
    return;
  }
  for (const auto& kernel : kernels(folder / "relayout.lay")) {
    const auto plan = lay::plan::make_plan(kernel);
    REQUIRE(plan.problems.empty());
    for (const auto& variant : plan.variants) {
      const auto made = lay::runtime::compile(emitted(plan, variant), *lay::cuda::find_target("sm_90a"));
      INFO(kernel->name << ", variant " << variant.name << "\n" << made.log);
      CHECK(made.ok());
      CHECK(made.messages.empty());
      CHECK(made.resources.registers > 0);
      CHECK(made.resources.stack_bytes == 0);
      CHECK(made.resources.spill_store_bytes == 0);
    }
  }
}
