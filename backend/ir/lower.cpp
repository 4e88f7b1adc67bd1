#include "backend/ir/lower.h"

#include "backend/ir/lower_parts.h"
#include "backend/ir/overloaded.h"

namespace lay::ir {

Kernel lower(const plan::Plan& plan, const plan::Variant& variant, const LowerOptions& options) {
  Kernel kernel;
  Builder builder(kernel);
  Declared declared(builder, plan, variant, options);
  std::visit(overloaded{
                 [&](const plan::SimtGemm& gemm) { lower_gemm(declared, gemm); },
                 [&](const plan::Direct& direct) { lower_direct(declared, direct); },
             },
             variant.how);
  return kernel;
}

}  // namespace lay::ir
