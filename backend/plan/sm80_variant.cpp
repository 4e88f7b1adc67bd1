#include "backend/plan/sm80_variant.h"

#include "backend/plan/conditions.h"
#include "backend/plan/predict.h"
#include "backend/plan/sm80.h"
#include "backend/plan/sm90.h"

namespace lay::plan {

std::optional<Variant> sm80_variant(const sema::Kernel& kernel, const GemmForm& form, const TensorSchedule& schedule,
                                    const Target& target, const Facts& facts, Width width,
                                    std::vector<Problem>& problems) {
  const auto given = open_conditions(facts, schedule.when);
  if (!given) return std::nullopt;
  std::vector<Problem> of_policies;  // a row of the library that does not fit is passed over
  std::vector<Problem>& found = schedule.of_script ? problems : of_policies;
  if (!multiplies_as_stored(kernel, form)) {
    found.push_back({"unsupported",
                     "tensor cores multiply elements as they lie in memory, and a factor of the product is "
                     "converted first",
                     schedule.where,
                     {},
                     {},
                     {}});
    return std::nullopt;
  }
  Facts known = facts;
  if (schedule.of_script) {
    for (const Predicate& condition : *given) known.assume(condition);
  }
  Conditions conditions{*given, {}};
  auto gemm = shape_sm80(kernel, form, schedule, target, known, width, conditions, found);
  if (!gemm || (width == Width::vectors && conditions.aligned.empty())) return std::nullopt;
  const auto open = open_conditions(facts, conditions.when);
  if (!open) return std::nullopt;
  Variant variant;
  variant.name = schedule.name;
  variant.when = *open;
  variant.aligned = conditions.aligned;
  variant.prediction = predict(kernel, *gemm);
  variant.how = std::move(*gemm);
  if (schedule.of_script) variant.schedule = schedule.where;
  return variant;
}

}  // namespace lay::plan
