#include "runtime/commands/narrow.h"

#include <algorithm>

#include "backend/plan/schedule/fitting.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/kernel/kernel_call.h"
#include "frontend/source/text.h"
#include "runtime/commands/report.h"

namespace lay::runtime {

void require_dims(const std::vector<sema::KernelPtr>& kernels, const GivenSizes& given) {
  for (const auto& [name, size] : given) {
    std::vector<std::string> known;
    for (const auto& kernel : kernels)
      for (const sema::Dim& dim : kernel->dims) known.push_back(dim.name);
    if (kernels.empty() || name.empty() ||
        std::find(known.begin(), known.end(), name) != known.end())
      continue;
    Diagnostic d;
    d.code = "no-parameter";
    d.message = "no kernel here has a size `" + escaped(name) + "`";
    if (const auto near = nearest(name, known))
      d.notes.push_back({"help", "did you mean " + *near + "?"});
    throw DiagnosticError(std::move(d));
  }
}

Binding solved_sizes(const sema::Kernel& kernel, const GivenSizes& given) try {
  Binding sizes = sema::solve_sizes(kernel, {}, sema::sizes_by_dim(kernel, given));
  sema::check_guards(kernel, sizes);
  return sizes;
} catch (const Refusal& refusal) {
  Diagnostic d;
  d.code = refusal.code;
  d.message = refusal.message;
  d.primary = kernel.where;
  throw DiagnosticError(std::move(d));
}

std::vector<plan::Variant> taken_at(const plan::Plan& plan, const std::vector<GivenSizes>& sizes) {
  std::vector<const plan::Variant*> taken;
  for (const GivenSizes& given : sizes) {
    const auto fitting = plan::fitting_variants(plan, solved_sizes(*plan.kernel, given));
    if (fitting.empty()) continue;
    taken.push_back(fitting.front());
    const auto any = std::find_if(fitting.begin(), fitting.end(),
                                  [](const auto* each) { return each->aligned.empty(); });
    if (any != fitting.end()) taken.push_back(*any);
  }
  std::vector<plan::Variant> kept;
  for (const plan::Variant& variant : plan.variants)
    if (std::find(taken.begin(), taken.end(), &variant) != taken.end()) kept.push_back(variant);
  return kept;
}

void refuse_variant(const sema::Kernel& kernel, const std::string& name,
                    const std::vector<std::string>& known) {
  Diagnostic d;
  d.code = "unknown-variant";
  d.message = "the plan of `" + kernel.name + "` has no variant `" + escaped(name) + "`";
  d.primary = kernel.where;
  if (const auto near = nearest(name, known))
    d.notes.push_back({"help", "did you mean " + *near + "?"});
  throw DiagnosticError(std::move(d));
}

}  // namespace lay::runtime
