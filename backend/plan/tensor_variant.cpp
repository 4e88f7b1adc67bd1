#include "backend/plan/tensor_variant.h"

#include <algorithm>
#include <iterator>

#include "backend/plan/chosen_copies.h"
#include "backend/plan/conditions.h"
#include "backend/plan/model/predict.h"
#include "backend/plan/schedule/problems.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm80/sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/plan/sm90/sm90.h"
#include "backend/plan/sm90/sm90_tail.h"

namespace lay::plan {

namespace {

// Returns true if the atom gets the factors of the product: as they lie in memory, or converted in
// registers.
bool takes_factors(const sema::Kernel& kernel, const GemmForm& form,
                   const std::optional<sema::Atom>& atom) {
  // The types themselves are checked where the atom is chosen, which says what is wrong with them.
  // This is about casts in between: f32(f16(e4m3)) is converted into an operand of f16 in
  // registers, and f32(bf16(f16)) is neither as stored nor exact in f16.
  const auto takes = [&](sema::NodeId value, sema::NodeId load, int operand) {
    return is_as_stored(kernel, form, value, load) ||
           (atom && is_convertible(kernel, value, *atom, operand));
  };
  return takes(form.a_value, form.a, 0) && takes(form.b_value, form.b, 1) &&
         std::ranges::all_of(
             form.further, [&](const FurtherForm& each) { return takes(each.b_value, each.b, 1); });
}

// What a variant holds: the bound program of its product alone.
tile::Program held(const sema::KernelPtr& kernel, const Sm80Gemm& gemm) {
  return bind_sm80(kernel, gemm);
}
tile::Program held(const sema::KernelPtr& kernel, const Sm90Gemm& gemm) {
  return bind_sm90(kernel, gemm);
}

template <class Gemm>
std::optional<Variant> variant_of(const sema::KernelPtr& kernel, std::optional<Gemm> gemm,
                                  const TensorShaping& shaping, const Facts& facts) {
  if (!gemm) return std::nullopt;
  const auto open = open_conditions(facts, shaping.conditions.when);
  if (!open) return std::nullopt;
  Variant variant;
  variant.name = shaping.schedule.name;
  variant.when = *open;
  variant.aligned = shaping.conditions.aligned;
  variant.cost = shaping.schedule.cost;  // a row's is over the kernel's sizes by now
  variant.accesses = shaping.width;
  variant.prediction = predict(shaping.kernel, *gemm, shaping.target);
  variant.programs = {held(kernel, *gemm)};
  if (shaping.schedule.of_script) variant.schedule = shaping.schedule.where;
  variant.of_library = shaping.schedule.of_library();
  if constexpr (std::is_same_v<Gemm, Sm90Gemm>)
    add_tail(variant, shaping.kernel, *gemm, shaping.target);
  return variant;
}

// What `shape` makes of the schedule by those of its copies that copy something, as they stand.
// Where these are what the library takes, by none: then the program says none.
template <class Gemm>
std::optional<Gemm> with_copies(const TensorShaping& at,
                                std::optional<Gemm> (*shape)(const TensorShaping&)) {
  if (at.schedule.copies.empty()) return shape(at);
  if (auto later = copy_of_later_gpus(at.schedule, at.target)) {
    at.problems.push_back(std::move(*later));
    return std::nullopt;
  }
  struct Shaped {
    Facts facts;
    Conditions conditions;
    std::vector<Problem> problems = {};
    std::optional<Gemm> gemm = {};
    std::vector<sema::CopyInstruction> copies = {};  // of the product
  };
  // Facts and conditions grow while a product is shaped, so that each attempt begins with those
  // that the schedule has.
  const auto by = [&](const std::vector<sema::CopyInstruction>& copies) {
    Shaped made{at.facts, at.conditions};
    TensorSchedule schedule = at.schedule;
    schedule.copies = copies;
    made.gemm = shape({at.kernel, at.form, schedule, at.target, at.width, made.facts,
                       made.conditions, made.problems});
    if (made.gemm) made.copies = copies_of(at.kernel, *made.gemm);
    return made;
  };
  Shaped made = by(at.schedule.copies);
  if (made.gemm) {
    std::vector<sema::CopyInstruction> taken;
    for (const sema::CopyInstruction& each : at.schedule.copies)
      if (std::ranges::find(made.copies, each) != made.copies.end()) taken.push_back(each);
    // Element by element no cp.async of 16 bytes is taken: the variant is that of the others, and
    // its printed schedule names no copy that does nothing.
    if (taken != at.schedule.copies) made = by(taken);
    // stmatrix(4) is what the library takes: such a plan is that without the entry, and prints as
    // it does.
    if (Shaped plain = by({}); plain.gemm && plain.copies == made.copies) made = std::move(plain);
  }
  at.facts = std::move(made.facts);
  at.conditions = std::move(made.conditions);
  std::ranges::move(made.problems, std::back_inserter(at.problems));
  return std::move(made.gemm);
}

// What `shape` makes of the schedule, where the kernel is one that it can run.
template <class Shape>
auto shaped(const sema::Kernel& kernel, const GemmForm& form, const TensorSchedule& schedule,
            Width width, const Target& target, const Facts& facts, std::vector<Problem>& problems,
            Shape shape) -> decltype(shape(std::declval<const TensorShaping&>())) {
  const auto given = open_conditions(facts, schedule.when);
  if (!given) return std::nullopt;
  // Laws are the same for a row and for a script; only who hears of a broken one differs.
  std::vector<Problem> of_policies;  // a row of the library that does not fit is passed over
  std::vector<Problem>& found = schedule.of_script ? problems : of_policies;
  // From here on A, m and rows are the instruction's.
  const GemmForm taken = schedule.swap_ab ? swapped(form) : form;
  if (!takes_factors(kernel, taken, schedule.mma)) {
    const sema::Atom* atom = schedule.mma ? &*schedule.mma : nullptr;
    found.push_back({"unsupported",
                     atom && !atom->a_shared
                         ? "the atom multiplies other numbers than the values of a factor of the "
                           "product, which is converted first"
                         : "tensor cores multiply elements as they lie in memory, and a factor of "
                           "the product is converted first",
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
      assume_of_schedule(known, condition);
    }
  }
  Conditions conditions{*given, {}};
  const TensorShaping shaping{kernel, taken, schedule, target, width, known, conditions, found};
  return shape(shaping);
}

}  // namespace

std::optional<Variant> tensor_variant(const std::string& family, const sema::KernelPtr& kernel,
                                      const GemmForm& form, const TensorSchedule& schedule,
                                      Width width, const Target& target, const Facts& facts,
                                      std::vector<Problem>& problems) {
  return shaped(*kernel, form, schedule, width, target, facts, problems,
                [&](const TensorShaping& shaping) {
                  return family == "sm90"
                             ? variant_of(kernel, with_copies(shaping, shape_sm90), shaping, facts)
                             : variant_of(kernel, with_copies(shaping, shape_sm80), shaping, facts);
                });
}

std::optional<Sm90Gemm> chosen_for_sm90(const sema::Kernel& kernel, const GemmForm& form,
                                        const TensorSchedule& schedule, Width width,
                                        const Target& target, const Facts& facts) {
  std::vector<Problem> ignored;
  return shaped(kernel, form, schedule, width, target, facts, ignored,
                [](const TensorShaping& shaping) { return with_copies(shaping, shape_sm90); });
}

}  // namespace lay::plan
