#include "tests/measure/bench_run.h"

#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "backend/plan/make.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/schedule/stated_sizes.h"
#include "frontend/algebra/support/refusal.h"
#include "generated/tests/paths.h"
#include "runtime/bench/problem/problem.h"
#include "runtime/bench/script_kernels.h"
#include "runtime/commands/script.h"
#include "tests/measure/machine.h"
#include "tests/measure/redirected.h"
#include "tests/runtime/temporary.h"

namespace lay::test {
namespace {

const std::string folder = std::string(LAY_SOURCE_DIR) + "/tests/measure/";
const std::string script = folder + "gemms.lay";

std::vector<sema::KernelPtr> kernels_of_file(const std::string& path) {
  runtime::ScriptOptions options;
  options.evaluation = {sema::Mode::check, {}};
  return runtime::evaluate_script(path, options)->evaluator.kernels();
}

// What a plan for a problem's sizes has beside that for any sizes.
void know_searched(const bench::Options& options) {
  for (const sema::KernelPtr& kernel : kernels_of_file(options.file)) {
    if (!options.kernel.empty() && kernel->name != options.kernel) continue;
    const plan::Plan rows = plan::make_plan(kernel);
    if (!rows.problems.empty()) continue;
    for (const auto& sizes : bench::problems_for(*kernel, options.sizes)) try {
        const Binding at = bench::problem_of(kernel, sizes, {}).sizes;
        plan::Plan plan = rows;
        plan::add_for_sizes(plan, at, default_target());
        if (plan.variants.size() > rows.variants.size())
          know_variant(plan, plan::chosen_variant(plan, at));
      } catch (const Refusal&) {
        continue;  // `lay bench` says what is wrong with the sizes
      }
  }
}

}  // namespace

void know_script_kernels() {
  static const bool known = (know_kernels(script), true);
  (void)known;
}

std::vector<sema::KernelPtr> kernels_of(const std::string& file) {
  return kernels_of_file(folder + file);
}

sema::KernelPtr kernel_named(const std::string& name) {
  static const auto kernels = kernels_of("gemms.lay");
  for (const auto& kernel : kernels)
    if (kernel->name == name) return kernel;
  throw std::logic_error(name);
}

Ended bench(bench::Options options) {
  static const TemporaryFolder cache;
  know_script_kernels();
  setenv("LAY_CACHE_DIR", cache.path().c_str(), 1);
  if (options.file.empty()) options.file = script;
  know_searched(options);
  options.milliseconds = 10;
  options.singles = 2;  // each is interpreted
  const Redirected out(std::cout), error(std::cerr);
  const int code = bench::bench_script(options);
  return {code, out.text(), error.text()};
}

}  // namespace lay::test
