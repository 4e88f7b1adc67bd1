#include "runtime/bench/bench.h"

#include <iostream>

#include "frontend/algebra/refusal.h"
#include "runtime/bench/match.h"
#include "runtime/bench/subject.h"
#include "runtime/exit_code.h"
#include "runtime/report.h"
#include "runtime/script.h"
#include "runtime/stages.h"

namespace lay::bench {
namespace {

using runtime::exit_machine;
using runtime::exit_ok;
using runtime::exit_program;

Diagnostic plain_diagnostic(std::string code, std::string message) {
  Diagnostic d;
  d.code = std::move(code);
  d.message = std::move(message);
  return d;
}

std::vector<sema::KernelPtr> wanted_kernels(const std::vector<sema::KernelPtr>& all, const Options& options) {
  std::vector<sema::KernelPtr> wanted;
  std::string names;
  for (const auto& kernel : all) {
    names += (names.empty() ? "`" : ", `") + kernel->name + "`";
    if (options.kernel.empty() || kernel->name == options.kernel) wanted.push_back(kernel);
  }
  if (wanted.empty())
    throw DiagnosticError(plain_diagnostic(
        "no-kernel", names.empty() ? "`" + options.file + "` has no kernel to measure"
                                   : "the script has no kernel `" + options.kernel + "`: it has " + names));
  return wanted;
}

// The sizes of one problem by name: what stands under no name is that of every dim.
std::map<std::string, std::int64_t> sizes_for(const sema::Kernel& kernel,
                                              const std::map<std::string, std::int64_t>& sizes) {
  constexpr std::int64_t usual = 4096;
  const auto all = sizes.find("");
  if (!sizes.empty() && all == sizes.end()) return sizes;
  std::map<std::string, std::int64_t> named;
  for (const sema::Dim& dim : kernel.dims) named[dim.name] = all == sizes.end() ? usual : all->second;
  return named;
}

class Bench {
 public:
  Bench(const Options& options, runtime::Gpu& gpu) : options_(options), gpu_(gpu), arena_{gpu} {
    setting_.script = options.file;
    setting_.device = gpu.device();
    setting_.driver_version = runtime::driver_version();
    library_ = CublasLt::open(&setting_.library_missing);
    if (library_) setting_.library = library_->version();
    sensors_ = Nvml::open(gpu.device().pci_bus_id, &setting_.sensors_missing);
    arena_.library = library_ ? &*library_ : nullptr;
    arena_.sensors = sensors_ ? &*sensors_ : nullptr;
    arena_.algorithms = options.algorithms;
    arena_.all_variants = options.all_variants;
    arena_.protocol.rounds = options.rounds;
    arena_.protocol.milliseconds = options.milliseconds;
    setting_.protocol = arena_.protocol;
    say(table_head(setting_));
  }

  void run(const Sources& sources, const sema::KernelPtr& kernel) {
    const plan::Plan plan = runtime::planned(kernel);
    const auto all = options_.sizes.empty() ? std::vector<std::map<std::string, std::int64_t>>(1) : options_.sizes;
    for (const auto& sizes : all) {
      Result result = measured(sources, plan, sizes_for(*kernel, sizes));
      say(table(result));
      wrong_ = wrong_ || !result.failure.empty() || !result.right();
      results_.push_back(std::move(result));
    }
  }

  int finish() {
    say(table_foot(results_));
    if (options_.json) std::cout << to_json(setting_, results_) << "\n";
    return wrong_ ? exit_program : exit_ok;
  }

 private:
  Result measured(const Sources& sources, const plan::Plan& plan, const std::map<std::string, std::int64_t>& sizes) {
    Result failed;
    failed.kernel = plan.kernel->name;
    failed.sizes.assign(sizes.begin(), sizes.end());
    try {
      return run_match(arena_, sources, plan, problem_of(plan.kernel, sizes, options_.scalars));
    } catch (const Refusal& refusal) {
      failed.failure = refusal.message;
    } catch (const runtime::DriverError& error) {
      failed.failure = error.text;
    } catch (const NotMeasured& error) {
      failed.failure = error.what();
    }
    return failed;
  }

  void say(const std::string& text) const { (options_.json ? std::cerr : std::cout) << text << std::flush; }

  const Options& options_;
  runtime::Gpu& gpu_;
  Setting setting_;
  std::optional<CublasLt> library_;
  std::optional<Nvml> sensors_;
  Arena arena_;
  std::vector<Result> results_;
  bool wrong_ = false;
};

}  // namespace

int bench_script(const Options& options) {
  runtime::ScriptOptions checking;
  checking.evaluation = {sema::Mode::check, {}};
  const auto script = runtime::evaluate_script(options.file, checking);
  runtime::report(script->sources, script->outcomes);
  if (const int code = runtime::exit_code_of(script->outcomes); code != exit_ok) return code;
  const auto kernels = wanted_kernels(script->evaluator->kernels(), options);
  std::string why;
  const auto gpu = runtime::Gpu::open(&why);
  if (!gpu) {
    std::cerr << "lay bench: nothing to measure on: " << why << "\n";
    return exit_machine;
  }
  Bench bench(options, *gpu);
  try {
    for (const auto& kernel : kernels) bench.run(script->sources, kernel);
  } catch (const DiagnosticError& error) {
    runtime::report(script->sources, error.diagnostic);
    return exit_program;
  }
  return bench.finish();
}

}  // namespace lay::bench
