#include "backend/plan/schedule/fitting.h"

#include <algorithm>
#include <stdexcept>

namespace lay::plan {

bool fits(const Variant& variant, const Binding& sizes) {
  // A condition whose value is not known does not hold: overflow, or a dim without a size.
  return std::all_of(variant.when.begin(), variant.when.end(),
                     [&](const Predicate& condition) { return condition.evaluate(sizes) == true; });
}

std::vector<const Variant*> fitting_variants(const Plan& plan, const Binding& sizes) {
  std::vector<const Variant*> fitting;
  for (const Variant& variant : plan.variants)
    if (fits(variant, sizes)) fitting.push_back(&variant);
  return fitting;
}

const Variant& chosen_variant(const Plan& plan, const Binding& sizes) {
  for (const Variant& variant : plan.variants)
    if (fits(variant, sizes)) return variant;
  throw std::logic_error("internal: no variant of kernel `" + plan.kernel->name +
                         "` takes these sizes");
}

}  // namespace lay::plan
