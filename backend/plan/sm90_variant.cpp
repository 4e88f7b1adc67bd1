#include "backend/plan/sm90_variant.h"

#include "backend/plan/conditions.h"
#include "backend/plan/copies.h"
#include "backend/plan/predict.h"
#include "backend/plan/sm90.h"

namespace lay::plan {

std::optional<Variant> sm90_variant(const sema::Kernel& kernel, const GemmForm& form, const TensorSchedule& schedule,
                                    Width width, const Target& target, const Facts& facts,
                                    std::vector<Problem>& problems) {
  std::vector<Problem> found;
  const auto refuse = [&](std::string message) {
    found.push_back({"unsupported", std::move(message), schedule.where, {}, {}, {}});
  };
  const auto leave = [&]() -> std::optional<Variant> {
    if (schedule.of_script) problems.insert(problems.end(), found.begin(), found.end());
    return std::nullopt;
  };
  const auto given = open_conditions(facts, schedule.when);
  if (!given) return std::nullopt;
  if (!multiplies_as_stored(kernel, form)) {
    refuse("tensor cores multiply elements as they lie in memory, and a factor of the product is converted first");
    return leave();
  }
  Facts known = facts;
  if (schedule.of_script) {
    for (const Predicate& condition : *given) known.assume(condition);
  }
  Conditions conditions{*given, {}};
  auto gemm = shape_sm90(kernel, form, schedule, width, target, known, conditions, found);
  if (!gemm && found.empty()) {
    refuse(
        "TMA cannot read the operands: their modes are plain, one of them has stride 1 and is k's or the output's, "
        "and the other strides are whole 16 bytes");
  }
  const auto open = open_conditions(facts, conditions.when);
  if (!gemm || !open) return leave();
  Variant variant;
  variant.name = schedule.name;
  variant.when = *open;
  variant.aligned = conditions.aligned;
  variant.capability = gemm->mma.since;
  variant.prediction = predict(kernel, *gemm);
  variant.how = std::move(*gemm);
  if (schedule.of_script) variant.schedule = schedule.where;
  return variant;
}

}  // namespace lay::plan
