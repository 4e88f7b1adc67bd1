#include "tests/measure/bench_run.h"

#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "generated/tests/paths.h"
#include "runtime/commands/script.h"
#include "tests/measure/machine.h"
#include "tests/measure/redirected.h"
#include "tests/runtime/temporary.h"

namespace lay::test {
namespace {

const std::string folder = std::string(LAY_SOURCE_DIR) + "/tests/measure/";
const std::string script = folder + "gemms.lay";

}  // namespace

void know_script_kernels() {
  static const bool known = (know_kernels(script), true);
  (void)known;
}

std::vector<sema::KernelPtr> kernels_of(const std::string& file) {
  runtime::ScriptOptions options;
  options.evaluation = {sema::Mode::check, {}};
  return runtime::evaluate_script(folder + file, options)->evaluator.kernels();
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
  options.milliseconds = 10;
  options.singles = 2;  // each is interpreted
  const Redirected out(std::cout), error(std::cerr);
  const int code = bench::bench_script(options);
  return {code, out.text(), error.text()};
}

}  // namespace lay::test
