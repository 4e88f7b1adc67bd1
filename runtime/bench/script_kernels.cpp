#include "runtime/bench/script_kernels.h"

#include "frontend/sema/kernel/kernel_call.h"
#include "runtime/commands/exit_code.h"
#include "runtime/commands/report.h"

namespace lay::bench {

std::unique_ptr<runtime::Script> checked_script(const std::string& file) {
  runtime::ScriptOptions checking;
  checking.evaluation = {sema::Mode::check, {}};
  auto script = runtime::evaluate_script(file, checking);
  runtime::report(script->sources, script->outcomes);
  return runtime::exit_code_of(script->outcomes) == runtime::exit_ok ? std::move(script) : nullptr;
}

std::vector<sema::KernelPtr> wanted_kernels(const runtime::Script& script, const std::string& file,
                                            const std::string& name) {
  auto wanted = runtime::kernels_named(script, name);
  if (!wanted.empty()) return wanted;
  Diagnostic d;
  d.code = "no-kernel";
  d.message = "`" + file + "` defines no kernel";
  throw DiagnosticError(std::move(d));
}

std::vector<std::map<std::string, std::int64_t>> problems_for(
    const sema::Kernel& kernel, const std::vector<SizeArgument>& given) {
  constexpr std::int64_t usual = 4096;
  std::vector<SizeArgument> asked = given;
  if (asked.empty())
    for (const sema::StatedSizes& stated : kernel.stated_sizes) {
      asked.push_back(stated.sizes);
      asked.back().emplace("", usual);
    }
  if (asked.empty()) asked.push_back({{"", usual}});
  std::vector<std::map<std::string, std::int64_t>> problems;
  for (const SizeArgument& each : asked) problems.push_back(sema::sizes_by_dim(kernel, each));
  return problems;
}

}  // namespace lay::bench
