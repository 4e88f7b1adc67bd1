#include "runtime/bench/tune/tune.h"

#include <filesystem>
#include <iostream>
#include <map>

#include "frontend/algebra/support/refusal.h"
#include "runtime/bench/compiled_kernel.h"
#include "runtime/bench/host_work.h"
#include "runtime/commands/exit_code.h"
#include "runtime/commands/policies.h"
#include "runtime/commands/report.h"
#include "runtime/commands/tuned.h"
#include "runtime/io/file.h"
#include "runtime/io/user_dirs.h"

namespace lay::bench {
namespace {

// What was found for the kernels of a script, and whether some of them could not be tuned.
struct TuneOutcome {
  std::vector<Finding> findings;
  bool failed = false;
};

void tune_kernel(const TuneOptions& options, const Sources& sources, const sema::KernelPtr& kernel,
                 runtime::Gpu* gpu, TuneOutcome& outcome) {
  KernelTuner tuner(sources, kernel, gpu ? gpu->target() : default_target(), gpu, options.effort,
                    [](const std::string& line) { std::cout << line << "\n"; });
  const auto not_tuned = [&](const std::string& why) {
    std::cout << kernel->name << ": not tuned: " << why << "\n";
    outcome.failed = true;
  };
  for (const auto& sizes : problems_for(*kernel, options.sizes)) try {
      if (const Tuning tuning = tuner.tune(sizes); tuning.finding)
        outcome.findings.push_back(*tuning.finding);
    } catch (const Refusal& refusal) {
      not_tuned(refusal.message);
    } catch (const NotMeasured& error) {
      not_tuned(error.what());
    } catch (const runtime::DriverError& error) {
      not_tuned(error.text);
    }
}

std::string before(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) ? runtime::read_file(path) : "";
}

void keep(const std::string& path, const std::string& text) {
  runtime::write_file(path, {text});
  std::cout << "written to " << path << "\n";
}

void keep_beside(const TuneOptions& options, const std::vector<Finding>& findings) {
  const std::string path = runtime::tuned_path(options.file);
  if (!findings.empty()) keep(path, schedules_text(findings, before(path)));
}

void keep_policies(const TuneOptions& options, const std::vector<Finding>& findings) {
  std::map<std::string, std::vector<Finding>> by_family;
  for (const Finding& finding : findings)
    if (finding.has_class)
      by_family[finding.schedule.target].push_back(finding);
    else
      std::cout
          << finding.kernel
          << ": no policy describes its layouts; --beside saves its schedule beside the script\n";
  if (by_family.empty()) return;
  const std::string folder = options.folder.empty() ? runtime::policy_folder() : options.folder;
  if (folder.empty()) {
    Diagnostic d;
    d.code = "file";
    d.message =
        "expected an absolute path in LAY_POLICIES, XDG_DATA_HOME or HOME for the policy directory";
    d.notes.push_back(
        {"help", "--output names a directory, --beside saves schedules beside the script"});
    throw DiagnosticError(std::move(d));
  }
  runtime::make_dirs(folder);
  for (const auto& [family, found] : by_family) {
    const std::string path = runtime::tuned_policy_path(folder, family);
    keep(path, policies_text(found, path, before(path)));
  }
}

}  // namespace

int tune_script(const TuneOptions& options) {
  const auto script = checked_script(options.file);
  if (!script) return runtime::exit_program;
  const auto kernels = wanted_kernels(*script, options.file, options.kernel);
  std::string why;
  const auto gpu = runtime::Gpu::open(&why);
  if (!gpu) std::cout << "Ranked by cost; nothing was timed: " << why << "\n";
  keep_freed_memory();
  TuneOutcome outcome;
  try {
    for (const auto& kernel : kernels)
      tune_kernel(options, script->sources, kernel, gpu.get(), outcome);
  } catch (const DiagnosticError& error) {
    runtime::report(script->sources, error.diagnostic);
    return runtime::exit_program;
  }
  if (options.beside)
    keep_beside(options, outcome.findings);
  else
    keep_policies(options, outcome.findings);
  return outcome.failed ? runtime::exit_program : runtime::exit_ok;
}

}  // namespace lay::bench
