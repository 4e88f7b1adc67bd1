// Plan -> IR. The compiler on one page: a variant is lowered to a kernel, then the passes run over
// it in order, and the verifier runs after each.
//
//   ir::Kernel kernel = lower(plan, plan.variants[0], {.script = "gemm.lay", .line_of = ...});
//
// A problem that the verifier finds is our bug: std::logic_error that names the pass.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/ir/ir.h"
#include "backend/plan/plan.h"

namespace lay::ir {

struct LowerOptions {
  std::string script;  // the script's name, for comments and line marks
  std::function<int(const Span&)>
      line_of;  // the line of the script where a span begins; 0 if unknown
};

struct Pass {
  std::string_view name;
  void (*run)(Kernel&);
};
// The passes, in the order in which they run.
std::span<const Pass> passes();

// Lowers the launch that gives a variant its name. Earlier launches have written the workspace that
// it reads.
Kernel lower(const plan::Plan& plan, const plan::Variant& variant,
             const LowerOptions& options = {});

// Lowers all launches of a variant, in order: the one that gives it its name last. A plan that runs
// before gives its first variant, which is the one that takes the sizes after plan::at_sizes().
std::vector<Kernel> lower_all(const plan::Plan& plan, const plan::Variant& variant,
                              const LowerOptions& options = {});

}  // namespace lay::ir
