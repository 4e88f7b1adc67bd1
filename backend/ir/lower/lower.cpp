#include "backend/ir/lower/lower.h"

#include "backend/ir/expand/elementwise/expand_elementwise.h"
#include "backend/ir/expand/expand.h"
#include "backend/ir/lower/lower_parts.h"
#include "backend/ir/passes.h"
#include "backend/ir/verify/verify.h"

namespace lay::ir {

std::span<const Pass> passes() {
  static constexpr Pass all[] = {
      {"drop unused variables", drop_unused_variables},
  };
  return all;
}

Kernel lower(const plan::Plan& plan, const plan::Variant& variant, const LowerOptions& options) {
  Kernel kernel;
  Builder builder(kernel);
  Declared declared(builder, plan, variant, options);
  if (variant.copies)
    expand_copies(declared, variant.programs);
  else
    expand(declared, variant.programs);
  // A broken law names the pass that broke it: the verifier runs after each.
  verify_after("lowering", kernel);
  for (const Pass& pass : passes()) {
    pass.run(kernel);
    verify_after(pass.name, kernel);
  }
  return kernel;
}

std::vector<Kernel> lower_all(const plan::Plan& plan, const plan::Variant& variant,
                              const LowerOptions& options) {
  std::vector<Kernel> kernels;
  // Launches run in this order in one stream: what repacks operands comes before what reads them.
  for (const auto& before : variant.before)
    for (Kernel& kernel : lower_all(*before, before->variants.at(0), options))
      kernels.push_back(std::move(kernel));
  kernels.push_back(lower(plan, variant, options));
  return kernels;
}

}  // namespace lay::ir
