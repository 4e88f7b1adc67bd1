#include "runtime/build/narrow.h"

#include <algorithm>
#include <iterator>

#include "backend/plan/schedule/stated_sizes.h"
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

namespace {

void require_valid(const sema::Kernel& kernel, const GivenSizes& given) {
  solved_sizes(kernel, given);
}

}  // namespace

plan::Purpose purpose_of(const sema::Kernel& kernel, const std::vector<GivenSizes>& sizes,
                         std::size_t most) {
  constexpr int drawn = 500, drawn_of_given = 100;
  plan::Purpose purpose{{}, sizes.empty(), most};
  if (sizes.empty()) {
    purpose.problems = plan::drawn_sizes(kernel, {}, drawn);
    // Those that the script states, as often as makes them half of all; one statement counts as
    // much as another.
    const std::size_t share =
        purpose.problems.size() / std::max<std::size_t>(1, kernel.stated_sizes.size());
    for (const sema::StatedSizes& each : kernel.stated_sizes) {
      const auto stated = plan::drawn_sizes(kernel, each.sizes, drawn_of_given);
      // Once each at least, where guards leave few others.
      for (std::size_t i = 0; i < std::max(share, stated.size()) && !stated.empty(); ++i)
        purpose.problems.push_back(stated[i % stated.size()]);
    }
  }
  for (const GivenSizes& given : sizes) {
    const std::size_t known = plan::given_dims(kernel, given);
    if (known == kernel.dims.size()) {
      purpose.problems.push_back(solved_sizes(kernel, given));
      continue;
    }
    purpose.for_other_sizes = true;
    auto more = plan::drawn_sizes(kernel, given, known == 0 ? drawn : drawn_of_given);
    std::move(more.begin(), more.end(), std::back_inserter(purpose.problems));
  }
  return purpose;
}

void add_for_given(plan::Plan& plan, const GivenSizes& given, const Target& target) {
  const sema::Kernel& kernel = *plan.kernel;
  const std::size_t known = plan::given_dims(kernel, given);
  if (known == kernel.dims.size()) require_valid(kernel, given);
  if (known > 0) plan::add_for_stated(plan, given, target);
}

void add_for_open_sizes(plan::Plan& plan, const Target& target) {
  const sema::KernelPtr kernel = plan.kernel;
  for (const sema::StatedSizes& stated : kernel->stated_sizes)
    if (plan::given_dims(*kernel, stated.sizes) < kernel->dims.size())
      plan::add_for_stated(plan, stated.sizes, target);
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
