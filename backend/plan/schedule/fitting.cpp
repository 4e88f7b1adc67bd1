#include "backend/plan/schedule/fitting.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "frontend/algebra/integers/valuation.h"

namespace lay::plan {

namespace {

bool fits(const Variant& variant, Valuation& at) {
  // A condition whose value is not known does not hold: overflow, or a dim without a size.
  return std::all_of(variant.when.begin(), variant.when.end(),
                     [&](const Predicate& condition) { return at.of(condition) == true; });
}

}  // namespace

bool fits(const Variant& variant, const Binding& sizes) {
  Valuation at(sizes);
  return fits(variant, at);
}

std::vector<Fitting> fitting(const Plan& plan, const Binding& sizes) {
  Valuation at(sizes);
  const auto cost_of = [&](const Variant& variant) -> std::int64_t {
    constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
    return variant.cost ? at.of(variant.cost->value).value_or(greatest) : 0;
  };
  std::vector<Fitting> found;
  std::size_t portfolio = 0;
  for (const Variant& variant : plan.variants) {
    if (fits(variant, at)) found.push_back({portfolio, cost_of(variant), &variant});
    // A portfolio that takes nothing here is counted too; the order of numbers is all that matters.
    // Neighbours are those of the plan, not of those that fit: what does not fit parts them too.
    const Variant* next = &variant + 1;
    const bool is_last = next == plan.variants.data() + plan.variants.size();
    if (is_last || !in_one_portfolio(variant.cost, next->cost)) ++portfolio;
  }
  // Of equal costs the first one in the plan stays in front.
  std::stable_sort(found.begin(), found.end(), [](const Fitting& a, const Fitting& b) {
    return std::tie(a.portfolio, a.cost) < std::tie(b.portfolio, b.cost);
  });
  return found;
}

std::vector<const Variant*> fitting_variants(const Plan& plan, const Binding& sizes) {
  std::vector<const Variant*> variants;
  for (const Fitting& each : fitting(plan, sizes)) variants.push_back(each.variant);
  return variants;
}

const Variant& chosen_variant(const Plan& plan, const Binding& sizes) {
  const auto fitting = fitting_variants(plan, sizes);
  if (!fitting.empty()) return *fitting.front();
  throw std::logic_error("internal: no variant of kernel `" + plan.kernel->name +
                         "` takes these sizes");
}

}  // namespace lay::plan
