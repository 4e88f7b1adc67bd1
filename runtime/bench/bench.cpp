#include "runtime/bench/bench.h"

#include <chrono>
#include <iostream>
#include <memory>

#include "backend/plan/schedule/stated_sizes.h"
#include "frontend/algebra/support/refusal.h"
#include "runtime/bench/benchmark.h"
#include "runtime/bench/compiled_kernel.h"
#include "runtime/bench/host_work.h"
#include "runtime/bench/script_kernels.h"
#include "runtime/commands/exit_code.h"
#include "runtime/commands/report.h"
#include "runtime/execute/stages.h"

namespace lay::bench {
namespace {

using runtime::exit_machine;
using runtime::exit_ok;
using runtime::exit_program;

class BenchRun {
 public:
  BenchRun(const Options& options, runtime::Gpu& gpu)
      : options_(options), gpu_(gpu), environment_{gpu} {
    setting_.script = options.file;
    setting_.device = gpu.device();
    setting_.driver_version = runtime::driver_version();
    library_ = CublasLt::open(&setting_.library_missing);
    if (library_) setting_.library = library_->version();
    sensors_ = Nvml::open(gpu.device().pci_bus_id, &setting_.sensors_missing);
    const bool variants_only = options.all_variants || !options.variants.empty();
    const auto limit_of = [&](const std::optional<double>& given) {
      const double seconds = options.once ? 0 : given.value_or(variants_only ? 0 : 120);
      return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3));
    };
    if (const auto limit = limit_of(options.triton_seconds); limit.count() > 0)
      triton_ = Triton::open(limit, &setting_.triton_missing);
    if (const auto limit = limit_of(options.torch_seconds); limit.count() > 0)
      torch_ = Torch::open(limit, &setting_.torch_missing);
    if (triton_) setting_.triton = triton_->version();
    if (torch_) setting_.torch = torch_->version();
    environment_.triton = triton_ ? &*triton_ : nullptr;
    environment_.torch = torch_.get();
    environment_.torch_autotune = options.torch_autotune;
    environment_.library = library_ ? &*library_ : nullptr;
    environment_.sensors = sensors_ ? &*sensors_ : nullptr;
    environment_.algorithms = options.algorithms;
    environment_.all_variants = options.all_variants;
    environment_.variants = options.variants;
    environment_.skip_scalar = options.skip_scalar;
    environment_.once = setting_.once = options.once;
    environment_.protocol.rounds = options.rounds;
    environment_.protocol.milliseconds = options.milliseconds;
    environment_.protocol.singles = options.singles;
    setting_.protocol = environment_.protocol;
    print(table_head(setting_));
  }

  void run(const Sources& sources, const sema::KernelPtr& kernel) {
    const plan::Plan plan = runtime::planned(
        kernel, gpu_.target(),
        options_.any_size ? plan::Searched::nothing : plan::Searched::stated_sizes);
    for (const auto& sizes : problems_for(*kernel, options_.sizes)) {
      Result result = measured(sources, plan, sizes);
      print(table(result));
      wrong_ = wrong_ || !result.failure.empty() || !result.right();
      results_.push_back(std::move(result));
    }
  }

  int finish() {
    print(table_foot(results_));
    if (options_.json) std::cout << to_json(setting_, results_) << "\n";
    return wrong_ ? exit_program : exit_ok;
  }

 private:
  Result measured(const Sources& sources, const plan::Plan& plan,
                  const std::map<std::string, std::int64_t>& sizes) {
    Result failed;
    failed.kernel = plan.kernel->name;
    failed.sizes.assign(sizes.begin(), sizes.end());
    try {
      const Problem problem = problem_of(plan.kernel, sizes, options_.scalars);
      if (options_.any_size) return run_benchmark(environment_, sources, plan, problem);
      plan::Plan for_sizes = plan;
      plan::add_for_sizes(for_sizes, problem.sizes, gpu_.target());
      return run_benchmark(environment_, sources, for_sizes, problem);
    } catch (const Refusal& refusal) {
      failed.failure = refusal.message;
    } catch (const runtime::DriverError& error) {
      failed.failure = error.text;
    } catch (const NotMeasured& error) {
      failed.failure = error.what();
    }
    return failed;
  }

  void print(const std::string& text) const {
    (options_.json ? std::cerr : std::cout) << text << std::flush;
  }

  const Options& options_;
  runtime::Gpu& gpu_;
  Setting setting_;
  std::optional<CublasLt> library_;
  std::optional<Nvml> sensors_;
  std::optional<Triton> triton_;
  std::unique_ptr<Torch> torch_;
  Environment environment_;
  std::vector<Result> results_;
  bool wrong_ = false;
};

}  // namespace

int bench_script(const Options& options) {
  const auto script = checked_script(options.file);
  if (!script) return exit_program;
  const auto kernels = wanted_kernels(*script, options.file, options.kernel);
  std::string why;
  const auto gpu = runtime::Gpu::open(&why);
  if (!gpu) {
    std::cerr << "lay bench: no GPU to measure on: " << why << "\n";
    return exit_machine;
  }
  keep_freed_memory();
  BenchRun bench(options, *gpu);
  try {
    for (const auto& kernel : kernels) bench.run(script->sources, kernel);
  } catch (const DiagnosticError& error) {
    runtime::report(script->sources, error.diagnostic);
    return exit_program;
  }
  return bench.finish();
}

}  // namespace lay::bench
