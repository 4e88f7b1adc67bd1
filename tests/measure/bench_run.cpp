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

const std::string script = std::string(LAY_SOURCE_DIR) + "/tests/measure/gemms.lay";

}  // namespace

void know_script_kernels() {
  static const bool known = (know_kernels(script), true);
  (void)known;
}

sema::KernelPtr kernel_named(const std::string& name) {
  static const auto read = [] {
    runtime::ScriptOptions options;
    options.evaluation = {sema::Mode::check, {}};
    return runtime::evaluate_script(script, options);
  }();
  for (const auto& kernel : read->evaluator->kernels())
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
