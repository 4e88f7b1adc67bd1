#include "backend/plan/make.h"

#include <algorithm>
#include <map>
#include <set>

#include "backend/plan/conditions.h"
#include "backend/plan/gemm_variants.h"
#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/model/predict.h"
#include "backend/plan/permute/permute_variants.h"
#include "backend/plan/recognise.h"
#include "backend/plan/support.h"
#include "backend/plan/tiles/staged_variants.h"
#include "backend/plan/tiles/tile_variants.h"
#include "backend/target/target.h"

namespace lay::plan {

namespace {

Problem problem_of(const Refusal& refusal, const Span& where) {
  return {refusal.code, refusal.message, where, {}, refusal.notes(), {}};
}

Variant scalar_variant(const sema::Kernel& kernel, const std::string& reason,
                       const Target& target) {
  Variant variant;
  variant.name = "scalar";
  variant.how = ScalarKernel{};
  variant.prediction = predict(kernel, ScalarKernel{}, target);
  variant.notes.push_back("one thread an output element: " + reason);
  return variant;
}

// Whether every launch finds a variant.
bool is_complete(const Plan& plan) {
  return !plan.variants.empty() && unconditional(plan.variants.back());
}

void refuse_schedules(Plan& plan, const std::string& message, const std::string& help) {
  for (const sema::Schedule& schedule : plan.kernel->schedules)
    plan.problems.push_back({"unsupported", message, schedule.where, {}, {{"help", help}}, {}});
}

void plan_scalar(Plan& plan, const std::string& reason, const Target& target) {
  refuse_schedules(plan,
                   "expected a GEMM or a permute kernel to schedule, and `" + plan.kernel->name +
                       "` is neither: " + reason,
                   "without a schedule it runs with one thread an output element");
  plan.variants.push_back(scalar_variant(*plan.kernel, reason, target));
}

// A name that a schedule gives is no other schedule's.
void check_names(Plan& plan) {
  std::map<std::string, Span> first;
  for (const sema::Schedule& schedule : plan.kernel->schedules) {
    for (const sema::ScheduleEntry& entry : schedule.entries) {
      const auto* text = std::get_if<std::string>(&entry.value);
      if (entry.key != "name" || !text) continue;
      const auto [known, fresh] = first.emplace(*text, entry.where);
      if (!fresh)
        plan.problems.push_back({"schedule-entry",
                                 "two schedules of `" + plan.kernel->name + "` are called " + *text,
                                 entry.where,
                                 {{known->second, "first here"}},
                                 {},
                                 {}});
    }
  }
}

// Equal conditions are met by equal launches, of which the first variant takes all.
void drop_unreached(std::vector<Variant>& variants) {
  std::vector<Variant> kept;
  for (Variant& variant : variants) {
    const bool known = std::any_of(kept.begin(), kept.end(), [&](const Variant& other) {
      return same_conditions(other, variant);
    });
    if (!known) kept.push_back(std::move(variant));
  }
  variants = std::move(kept);
}

// Variants are told apart by name, in the emitted kernels too: one whose name is taken, by a
// schedule or by a launch that comes first, gets a number.
void make_names_unique(std::vector<Variant>& variants) {
  std::set<std::string> taken;
  for (const Variant& variant : variants)
    for (const auto& before : variant.before)
      if (before->variants.size() == 1) taken.insert(before->variants[0].name);
  for (Variant& variant : variants) {
    const std::string stem = variant.name;
    // A schedule called "small" leaves the library's row small_2.
    for (int number = 2; !taken.insert(variant.name).second; ++number)
      variant.name = stem + "_" + std::to_string(number);
  }
}

// Coordinates are computed in 32 bits. The launcher holds each size below 2^31, not the products of
// sizes that joined indices run over.
std::vector<Predicate> bounds_of_joined(const sema::Kernel& kernel, const Gemm& gemm) {
  constexpr std::int64_t most = (std::int64_t{1} << 31) - (std::int64_t{1} << 21);
  std::vector<Predicate> needed;
  if (gemm.kernel.get() == &kernel) return needed;
  for (const sema::Index& index : gemm.kernel->indices)
    if (!index.extent.dim_id()) needed.push_back(less_equal(index.extent, most));
  return needed;
}

void plan_gemm(Plan& plan, const Gemm& gemm, Facts& facts, const Target& target) {
  const auto needed = open_conditions(facts, bounds_of_joined(*plan.kernel, gemm));
  if (!needed) return plan_scalar(plan, "more than 2^31 rows, columns or products", target);
  // Schedules, names of operands and launches are then of the kernel with its indices joined.
  if (gemm.kernel != plan.kernel) plan.rewritten = gemm.kernel;
  Plan made{gemm.kernel, {}, {}};
  add_gemm_variants(made, gemm.form, facts, target);
  if (made.problems.empty() && !is_complete(made))
    made.variants.push_back(scalar_variant(*gemm.kernel, "no schedule takes all sizes", target));
  plan.problems = std::move(made.problems);
  plan.notes = std::move(made.notes);
  for (Variant& variant : made.variants) {
    if (!variant.kernel) variant.kernel = plan.rewritten;
    variant.when.insert(variant.when.end(), needed->begin(), needed->end());
    plan.variants.push_back(std::move(variant));
  }
  if (plan.problems.empty() && !needed->empty())
    plan.variants.push_back(
        scalar_variant(*plan.kernel, "more than 2^31 rows, columns or products", target));
}

void plan_kernel(Plan& plan, const Target& target) {
  check_support(*plan.kernel, plan.problems);
  check_names(plan);
  if (!plan.problems.empty()) return;
  Facts facts = facts_of(*plan.kernel);
  auto form = recognise_coalesced(plan.kernel, facts);
  if (std::holds_alternative<NotGemm>(form)) {
    const auto change = recognise_permute(*plan.kernel, facts);
    // Four families: a product of two factors (GEMM), no reduction at all (permute, or tiles of an
    // elementwise map), several products (launches), rows that are reduced (tile programs). What is
    // none of them runs one thread an element.
    const auto* found = std::get_if<PermuteForm>(&change);
    if (found && !(plan.kernel->schedules.empty() && has_tiles(*plan.kernel, facts)))
      return add_permute_variants(plan, *found, facts, target);
  }
  if (auto* no = std::get_if<NotGemm>(&form)) {
    if (add_launch_sequences(plan, facts, target)) {
      if (plan.problems.empty() && !is_complete(plan))
        plan.variants.push_back(
            scalar_variant(*plan.kernel, "more than 16 GiB of workspace", target));
      return;
    }
    if (const auto reason = add_tile_variants(plan, facts, target)) {
      if (!add_staged_variants(plan, facts, target))
        return plan_scalar(plan, no->reason + ", and " + *reason, target);
      refuse_schedules(plan, "`" + plan.kernel->name + "` runs in several launches, for " + *reason,
                       "a kernel for each launch takes a schedule");
    }
    if (plan.problems.empty() && !is_complete(plan))
      plan.variants.push_back(
          scalar_variant(*plan.kernel, "more than 2^31 rows or columns", target));
    return;
  }
  if (std::any_of(plan.kernel->tensors.begin(), plan.kernel->tensors.end(),
                  [](const sema::Tensor& each) { return each.is_swizzled(); }))
    return plan_scalar(plan, "a tensor is swizzled in global memory", target);
  plan_gemm(plan, std::get<Gemm>(form), facts, target);
}

}  // namespace

Facts facts_of(const sema::Kernel& kernel) {
  Facts facts;
  for (const Guard& guard : kernel.guards)
    facts.assume(either(negate(guard.path), guard.predicate));
  return facts;
}

Plan make_plan(sema::KernelPtr kernel, const Target& target) {
  Plan plan{std::move(kernel), {}, {}};
  try {
    plan_kernel(plan, target);
    const Facts known = facts_of(*plan.kernel);
    // Conditions of several sources may exclude each other: K % 8 == 0 of TMA and a schedule's K <
    // 8. No launch takes such a variant, so it is not compiled.
    std::erase_if(plan.variants, [&](const Variant& variant) {
      const bool is_tiled = std::holds_alternative<tile::Program>(variant.how);
      return is_tiled ? never_holds(known, variant.when) : contradicts(known, variant.when);
    });
    for (Variant& variant : plan.variants) variant.when = as_read_back(known, variant.when);
    drop_unreached(plan.variants);
    make_names_unique(plan.variants);
  } catch (const Refusal& refusal) {
    plan.problems.push_back(problem_of(refusal, plan.kernel->where));
  }
  if (!plan.problems.empty()) plan.variants.clear();
  return plan;
}

}  // namespace lay::plan
