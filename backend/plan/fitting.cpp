#include "backend/plan/fitting.h"

#include <algorithm>

namespace lay::plan {

std::vector<const Variant*> fitting_variants(const Plan& plan, const Binding& sizes) {
  std::vector<const Variant*> fitting;
  for (const Variant& variant : plan.variants)
    if (std::all_of(variant.when.begin(), variant.when.end(),
                    [&](const Predicate& condition) { return condition.evaluate(sizes) == true; }))
      fitting.push_back(&variant);
  return fitting;
}

}  // namespace lay::plan
