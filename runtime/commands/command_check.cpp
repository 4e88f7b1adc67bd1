#include <algorithm>
#include <iostream>
#include <memory>
#include <set>

#include "backend/ir/text/print.h"
#include "backend/plan/make.h"
#include "backend/plan/operand_repack.h"
#include "backend/plan/print.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/schedule/stated_sizes.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/kernel/kernel_call.h"
#include "frontend/sema/kernel/kernel_print.h"
#include "frontend/source/text.h"
#include "frontend/syntax/format.h"
#include "frontend/syntax/parse.h"
#include "runtime/build/narrow.h"
#include "runtime/commands/check_json.h"
#include "runtime/commands/commands.h"
#include "runtime/commands/exit_code.h"
#include "runtime/commands/plan_summary.h"
#include "runtime/commands/report.h"
#include "runtime/commands/script.h"
#include "runtime/commands/tile_dump.h"
#include "runtime/execute/stages.h"
#include "runtime/gpu/device.h"
#include "runtime/io/file.h"

namespace lay::runtime {
namespace {

std::unique_ptr<Script> checked(const std::string& file,
                                const std::map<std::string, std::string>& set = {}) {
  ScriptOptions options;
  options.evaluation = {sema::Mode::check, sizes_of(set)};
  return evaluate_script(file, options);
}

struct Tally {
  int proved = 0, refuted = 0, undecided = 0, guarded = 0;

  void count(const sema::Finding& finding) {
    switch (finding.verdict) {
      case Verdict::proved:
        ++proved;
        break;
      case Verdict::refuted:
        ++refuted;
        break;
      case Verdict::undecided:
        ++(finding.guarded ? guarded : undecided);
        break;
    }
  }
};

Tally print_findings(const Script& script) {
  Tally tally;
  for (const auto& outcome : script.outcomes)
    for (const auto& finding : outcome.findings) {
      tally.count(finding);
      std::cout << finding_line(script.sources, finding) << "\n";
    }
  return tally;
}

void print_kernel_guards(const sema::Kernel& kernel) {
  for (const Guard& guard : kernel.guards)
    std::cout << "kernel " << kernel.name << ": the launcher checks " << guard_text(guard) << "\n";
}

// The problems of the kernel's plan; where it has none, what is slow about it.
Diagnostics remarks_on(const sema::KernelPtr& kernel, bool strict) {
  const plan::Plan plan = plan::make_plan(kernel, default_target(), plan::Searched::nothing);
  Diagnostics problems = problems_of(plan);
  return problems.ok() ? warnings_of(plan, default_target(), strict) : problems;
}

int check_as_json(const CheckOptions& options) {
  const auto script = checked(options.file, options.set);
  int code = exit_code_of(script->outcomes);
  for (const auto& outcome : script->outcomes) {
    for (const Diagnostic& d : outcome.diagnostics.list())
      std::cout << diagnostic_json(script->sources, d) << "\n";
    for (const auto& finding : outcome.findings) {
      if (finding.verdict == Verdict::refuted) code = exit_program;
      std::cout << finding_json(script->sources, finding) << "\n";
    }
  }
  for (const auto& kernel : script->evaluator.kernels()) {
    for (const Guard& guard : kernel->guards) std::cout << guard_json(kernel->name, guard) << "\n";
    const Diagnostics found = remarks_on(kernel, options.strict);
    if (!found.ok()) code = exit_program;
    for (const Diagnostic& d : found.list())
      std::cout << diagnostic_json(script->sources, d) << "\n";
  }
  return code;
}

int dump_tree(const std::string& file) {
  Sources sources;
  const auto parsed = syntax::parse(sources, sources.add(file, read_file(file, most_script_bytes)));
  report(sources, parsed.diagnostics);
  std::cout << syntax::dump(*parsed.tree);
  return parsed.ok() ? exit_ok : exit_program;
}

void dump_variant(const Script& script, const plan::Plan& plan, const plan::Variant& variant,
                  bool as_cuda) {
  for (const ir::Kernel& kernel : lowered(script.sources, plan, variant)) {
    if (as_cuda)
      std::cout << emitted(*plan.kernel, kernel, *find_target("sm_90a")).text;
    else
      std::cout << ir::print(kernel);
  }
}

// Keeps of the plan, and of those before, what a launch of these sizes takes; or of the plan the
// variant of this name, if it takes the sizes.
void keep_taken(plan::Plan& plan, const Binding& sizes, const std::string& named = "") {
  auto fitting = plan::fitting_variants(plan, sizes);
  if (!named.empty()) {
    std::vector<std::string> known;
    for (const plan::Variant* each : fitting) known.push_back(each->name);
    std::erase_if(fitting, [&](const plan::Variant* each) { return each->name != named; });
    if (fitting.empty()) refuse_variant(*plan.kernel, named, known);
  }
  std::vector<plan::Variant> taken;
  if (!fitting.empty()) taken.push_back(*fitting.front());
  plan.variants = std::move(taken);
  for (plan::Variant& variant : plan.variants)
    for (std::shared_ptr<const plan::Plan>& before : variant.before) {
      if (before->variants.size() == 1) continue;
      plan::Plan one = *before;
      keep_taken(one, sizes);
      before = std::make_shared<const plan::Plan>(std::move(one));
    }
}

struct DumpOptions {
  std::string file, stage;
  Target target = default_target();
  GivenSizes sizes{};
  std::string kernel{}, variant{};  // empty: all
  bool whole = true;                // a plan without sizes, however long
  bool any_size = false;            // with sizes: of a plan for any
};

// The plan as a launch of these sizes sees it; the sizes by dim.
Binding keep_taken(plan::Plan& plan, const DumpOptions& options) {
  const Binding sizes = solved_sizes(*plan.kernel, options.sizes);
  if (!options.any_size) plan::add_for_sizes(plan, sizes, options.target);
  keep_taken(plan, sizes, options.stage == "plan" ? options.variant : "");
  return sizes;
}

// Returns the names of the kernels that the print wrote out.
std::set<std::string> dump_plan(const Script& script, plan::Plan plan, const DumpOptions& options) {
  if (options.stage == "plan") check_emittable(script.sources, plan, options.target);
  // Sizes that leave dims open say what a plan is for, and nothing that could be estimated.
  const std::size_t given = plan::given_dims(*plan.kernel, options.sizes);
  if (options.stage == "plan" && given > 0 && given < plan.kernel->dims.size()) {
    if (!options.any_size) add_for_given(plan, options.sizes, options.target);
    std::cout << plan_summary(plan, options.target, options.sizes);
    return plan::repack_names(plan);
  }
  Binding sizes;
  // Other stages are asked for variants by the names that the plan prints.
  const bool is_named = options.stage == "plan" || !options.variant.empty();
  if (is_named && options.sizes.empty() && !options.any_size)
    add_for_open_sizes(plan, options.target);
  if (!options.sizes.empty()) sizes = keep_taken(plan, options);
  if (options.stage != "plan") {
    std::cout << tile_dump(script.sources, plan, options.stage, options.variant);
  } else if (options.sizes.empty()) {
    const std::string text = plan::print_plan(plan);
    const bool is_long = std::count(text.begin(), text.end(), '\n') > most_plan_lines;
    std::cout << (is_long && !options.whole ? plan_summary(plan, options.target) : text);
  } else {
    std::cout << plan::print_plan(plan, sizes, options.target);
  }
  return plan::repack_names(plan);
}

int dump(const DumpOptions& options) {
  if (options.stage == "tree") return dump_tree(options.file);
  const auto script = checked(options.file);
  report(script->sources, script->outcomes);
  int code = exit_code_of(script->outcomes);
  const auto kernels = kernels_named(*script, options.kernel);
  require_dims(kernels, options.sizes);
  // A pasted plan has its repacks as kernels; they print with the plan that they are part of.
  std::set<std::string> printed;
  for (const auto& kernel : kernels) try {
      if (options.stage == "plan" && printed.count(kernel->name) == 1) continue;
      if (options.stage == "typed") {
        std::cout << sema::print(*kernel);
        continue;
      }
      plan::Plan plan =
          planned(kernel, options.target,
                  options.any_size ? plan::Searched::nothing : plan::Searched::stated_sizes);
      if (options.stage == "ir" || options.stage == "cuda") {
        for (const auto& variant : plan.variants)
          dump_variant(*script, plan, variant, options.stage == "cuda");
      } else {
        printed.merge(dump_plan(*script, std::move(plan), options));
      }
    } catch (const DiagnosticError& e) {
      report(script->sources, e.diagnostic);
      code = exit_program;
    }
  return code;
}

}  // namespace

int check_script(const CheckOptions& options) {
  if (!options.dump.empty()) return dump({options.file, options.dump});
  if (options.json) return check_as_json(options);
  const auto script = checked(options.file, options.set);
  report(script->sources, script->outcomes);
  int code = exit_code_of(script->outcomes);
  const Tally tally = print_findings(*script);
  const auto kernels = script->evaluator.kernels();
  for (const auto& kernel : kernels) {
    print_kernel_guards(*kernel);
    const Diagnostics found = remarks_on(kernel, options.strict);
    report(script->sources, found);
    if (!found.ok()) code = exit_program;
  }
  std::cout << options.file << ": " << tally.proved << " proved, " << tally.guarded << " guarded, "
            << tally.undecided << " undecided, " << tally.refuted << " refuted; " << kernels.size()
            << (kernels.size() == 1 ? " kernel" : " kernels")
            << (code == exit_ok ? "" : "; there are errors") << "\n";
  return tally.refuted > 0 ? exit_program : code;
}

int print_plans(const PlanOptions& options) {
  const Target target = options.gpu.empty() ? default_target() : target_named(options.gpu);
  const std::string stage = options.dump.empty() ? "plan" : options.dump;
  return dump({options.file, stage, target, options.sizes, options.kernel, options.variant,
               options.all, options.any_size});
}

}  // namespace lay::runtime
