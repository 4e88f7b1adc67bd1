#include "backend/plan/simt/simt_variant.h"

#include <string>
#include <utility>

#include "backend/plan/conditions.h"
#include "backend/plan/copies.h"
#include "backend/plan/model/predict.h"
#include "backend/plan/schedule/conflict_notes.h"
#include "backend/plan/schedule/problems.h"
#include "backend/plan/simt/bind_simt.h"
#include "backend/plan/simt/simt.h"
#include "backend/plan/simt/simt_ring.h"

namespace lay::plan {

namespace {

bool fits(const SimtGemm& gemm, const Prediction& prediction, const SimtSchedule& schedule,
          const Target& target, std::vector<Problem>& problems) {
  const auto problem = [&](const char* code, std::string message) {
    const std::string help =
        schedule.stages > 2 ? "fewer stages or a smaller tile" : "a smaller tile";
    problems.push_back({code, std::move(message), schedule.at("tile"), {}, {{"help", help}}, {}});
    return false;
  };
  if (prediction.shared_bytes > target.block_shared) {
    return problem("schedule-shared", "the tile takes " + std::to_string(prediction.shared_bytes) +
                                          " bytes of shared memory, and a block has " +
                                          std::to_string(target.block_shared));
  }
  // Accumulators and fragments that do not fit in registers spill in the innermost loop: refused
  // here, where the entry can be named, not found in ptxas' remarks.
  const int held = gemm.ring() ? gemm.registers[1] : target.thread_registers;
  if (const int least = least_registers(gemm); least > held) {
    return problem("schedule-registers", "the tile takes at least " + std::to_string(least) +
                                             " registers a thread, which has " +
                                             std::to_string(held));
  }
  return true;
}

}  // namespace

std::optional<Variant> simt_variant(const sema::KernelPtr& kernel, const GemmForm& form,
                                    SimtSchedule schedule, Width width, const Target& target,
                                    const Facts& known, std::vector<Problem>& problems) {
  if (width == Width::elements) schedule.stages = 2;
  const auto given = open_conditions(known, schedule.when);
  if (!given) return std::nullopt;
  Facts facts = known;
  // Conditions of a schedule need not be asked again; tile counts of a policy say nothing about
  // that.
  if (schedule.of_script)
    for (const Predicate& condition : *given) assume_of_schedule(facts, condition);
  Conditions conditions{*given, {}};
  auto gemm = shape_gemm(*kernel, form, schedule, target, problems);
  if (!gemm ||
      !plan_copies(*gemm, *kernel, form, facts, target, width, schedule, conditions, problems))
    return std::nullopt;
  // Vectors of one element are the variant that comes later.
  if (width == Width::vectors && conditions.aligned.empty()) {
    if (schedule.accesses) problems.push_back(no_vectors(schedule));
    return std::nullopt;
  }
  const auto open = open_conditions(known, conditions.when);
  if (!open) return std::nullopt;
  gemm->blocks_per_sm = blocks_per_sm(*gemm, target);
  Variant variant;
  variant.name = schedule.name;
  if (schedule.of_script && width == Width::elements && !schedule.accesses) variant.name += "_any";
  variant.accesses = width;
  variant.when = *open;
  variant.aligned = conditions.aligned;
  variant.cost = schedule.cost;
  variant.prediction = predict(*kernel, *gemm, target);
  if (!fits(*gemm, variant.prediction, schedule, target, problems)) return std::nullopt;
  variant.programs = {bind_simt(kernel, *gemm)};
  if (schedule.of_script) variant.schedule = schedule.where;
  variant.of_library = schedule.of_library();
  note_conflicts(variant, schedule, [&](const SimtSchedule& free) -> std::optional<Variant> {
    std::vector<Problem> ignored;
    Conditions of_free{*given, {}};
    auto other = shape_gemm(*kernel, form, free, target, ignored);
    if (!other || !plan_copies(*other, *kernel, form, facts, target, width, free, of_free, ignored))
      return std::nullopt;
    Variant made;
    made.prediction = predict(*kernel, *other, target);
    return made;
  });
  return variant;
}

}  // namespace lay::plan
