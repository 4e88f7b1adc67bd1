#include "backend/plan/tensor_variant.h"

#include "backend/plan/conditions.h"
#include "backend/plan/model/predict.h"
#include "backend/plan/sm80/sm80.h"
#include "backend/plan/sm90/sm90.h"

namespace lay::plan {

namespace {

// Whether the factors of the product are elements that tensor cores multiply as they lie in memory:
// under casts to the accumulator's type at most, which change no value.
bool multiplies_as_stored(const sema::Kernel& kernel, const GemmForm& form) {
  const ElementType sum = kernel.node(form.contraction).type;
  const auto plain = [&](sema::NodeId value, sema::NodeId load) {
    // f32(bf16) is what the tensor core does itself; f32(f16(e4m3)) would round in between.
    for (; value != load; value = std::get<sema::Apply>(kernel.node(value).what).operands[0]) {
      if (kernel.node(value).type != sum) return false;
    }
    return true;
  };
  return plain(form.a_value, form.a) && plain(form.b_value, form.b);
}

template <class Gemm>
std::optional<Variant> variant_of(std::optional<Gemm> gemm, const TensorShaping& shaping,
                                  const Facts& facts) {
  if (!gemm) return std::nullopt;
  const auto open = open_conditions(facts, shaping.conditions.when);
  if (!open) return std::nullopt;
  Variant variant;
  variant.name = shaping.schedule.name;
  variant.when = *open;
  variant.aligned = shaping.conditions.aligned;
  variant.accesses = shaping.width;
  variant.prediction = predict(shaping.kernel, *gemm, shaping.target);
  variant.how = std::move(*gemm);
  if (shaping.schedule.of_script) variant.schedule = shaping.schedule.where;
  return variant;
}

}  // namespace

std::optional<Variant> tensor_variant(const std::string& family, const sema::Kernel& kernel,
                                      const GemmForm& form, const TensorSchedule& schedule,
                                      Width width, const Target& target, const Facts& facts,
                                      std::vector<Problem>& problems) {
  const auto given = open_conditions(facts, schedule.when);
  if (!given) return std::nullopt;
  // Laws are the same for a row and for a script; only who hears of a broken one differs.
  std::vector<Problem> of_policies;  // a row of the library that does not fit is passed over
  std::vector<Problem>& found = schedule.of_script ? problems : of_policies;
  if (!multiplies_as_stored(kernel, form)) {
    found.push_back(
        {"unsupported",
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
    for (const Predicate& condition : *given) {
      // No size is in the row's class and in the schedule's.
      // `schedule f for sm90 when M <= 64` with a row for M >= 4096.
      if (schedule.completed && known.proves(negate(condition))) return std::nullopt;
      known.assume(condition);
    }
  }
  Conditions conditions{*given, {}};
  // From here on A, m and rows are the instruction's.
  const GemmForm taken = schedule.swap_ab ? swapped(form) : form;
  const TensorShaping shaping{kernel, taken, schedule, target, width, known, conditions, found};
  return family == "sm90" ? variant_of(shape_sm90(shaping), shaping, facts)
                          : variant_of(shape_sm80(shaping), shaping, facts);
}

}  // namespace lay::plan
