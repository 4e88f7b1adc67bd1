#include "backend/plan/schedule/fitting.h"

#include <algorithm>

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

}  // namespace lay::plan
