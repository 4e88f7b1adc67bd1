#include "runtime/execute/stages.h"

#include <cmath>
#include <filesystem>
#include <utility>

#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "backend/plan/model/scalar.h"

namespace lay::runtime {
namespace {

Diagnostic to_diagnostic(const plan::Problem& problem) {
  Diagnostic d;
  d.code = problem.code;
  d.message = problem.message;
  d.primary = problem.where;
  for (const auto& [span, text] : problem.labels) d.labels.push_back({span, text});
  for (const auto& [kind, text] : problem.notes) d.notes.push_back({kind, text});
  d.witness = problem.witness;
  return d;
}

}  // namespace

plan::Plan planned(const sema::KernelPtr& kernel, const Target& target, plan::Searched searched) {
  plan::Plan plan = plan::make_plan(kernel, target, searched);
  if (!plan.problems.empty()) throw DiagnosticError(to_diagnostic(plan.problems.front()));
  return plan;
}

Diagnostics problems_of(const plan::Plan& plan) {
  Diagnostics diagnostics;
  for (const auto& problem : plan.problems) diagnostics.add(to_diagnostic(problem));
  return diagnostics;
}

Diagnostics warnings_of(const plan::Plan& plan, const Target& target, bool strict) {
  constexpr double worth_saying = 2;
  Diagnostics diagnostics;
  const auto worst = plan::worst_scalar_slowdown(plan, target);
  if (!worst || worst->factor < worth_saying) return diagnostics;
  Diagnostic d;
  d.severity = strict ? Severity::error : Severity::warning;
  d.code = "one-thread-an-element";
  d.message = "kernel `" + plan.kernel->name + "` runs one thread an element, an estimated " +
              std::to_string(std::llround(worst->factor)) +
              " times slower than its data allow on " + target.name + " where ";
  if (worst->small) {
    d.message += worst->small->first + " is " + std::to_string(worst->small->second) +
                 " and every other size is " + std::to_string(worst->size);
  } else {
    d.message += "every size is " + std::to_string(worst->size);
  }
  d.primary = plan.kernel->where;
  for (const std::string& note : plan.variants.front().notes) d.notes.push_back({"at", note});
  d.notes.push_back({"help",
                     "products of two factors, reductions that read their elements once, and "
                     "kernels without a reduction are tiled; `lay plan` prints the plan"});
  diagnostics.add(std::move(d));
  return diagnostics;
}

std::vector<ir::Kernel> lowered(const Sources& sources, const plan::Plan& plan,
                                const plan::Variant& variant) {
  ir::LowerOptions options;
  const Span& where = plan.kernel->where;
  // The file's name alone: what is emitted does not tell where on this machine the script lay.
  if (where.known())
    options.script = std::filesystem::path(sources[where.file].name).filename().string();
  options.line_of = [&](const Span& span) {
    return span.known() ? sources.position(span).line : 0;
  };
  return ir::lower_all(plan, variant, options);
}

cuda::Emitted emitted(const sema::Kernel& kernel, const ir::Kernel& lowered, const Target& target) {
  auto result = cuda::emit(lowered, target);
  if (auto* emitted = std::get_if<cuda::Emitted>(&result)) return std::move(*emitted);
  const auto& problem = std::get<cuda::Problem>(result);
  Diagnostic d;
  d.code = problem.code;
  d.message = "kernel `" + kernel.name + "` for " + target.architecture + ": " + problem.message;
  d.primary = kernel.where;
  if (!problem.help.empty()) d.notes.push_back({"help", problem.help});
  throw DiagnosticError(std::move(d));
}

void check_emittable(const Sources& sources, const plan::Plan& plan, const Target& target) {
  if (plan.variants.empty()) return;
  for (const ir::Kernel& kernel : lowered(sources, plan, plan.variants.back()))
    emitted(*plan.kernel, kernel, target);
}

}  // namespace lay::runtime
