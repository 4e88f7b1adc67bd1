#include "backend/plan/permute/permute_variants.h"

#include "backend/plan/conditions.h"
#include "backend/plan/permute/plan_permute.h"

namespace lay::plan {

namespace {

// The variants of one schedule, those that nobody would reach left out.
void add_permute(Plan& plan, const PermuteForm& form, const PermuteSchedule& schedule,
                 const Facts& known, const Target& target) {
  const auto given = open_conditions(known, schedule.when);
  if (!given) return;
  Facts facts = known;
  for (const Predicate& condition : *given) facts.assume(condition);
  const std::size_t count = plan.variants.size();
  // Narrower accesses need weaker conditions: each variant takes what those before it do not.
  for (const int bytes : permute_widths) {
    if (schedule.access_bytes.value_or(bytes) != bytes) continue;
    PermuteSchedule named = schedule;
    const std::string width = bytes > 0 ? "bytes" + std::to_string(bytes) : "any";
    if (!schedule.access_bytes)
      named.name = schedule.name.empty() ? width : schedule.name + "_" + width;
    auto variant = plan_permute(plan.kernel, form, facts, named, bytes, target, plan.problems);
    if (!plan.problems.empty()) return;
    // Without `accesses` a width that no access has is left to the next one.
    if (!variant && schedule.access_bytes) {
      plan.problems.push_back({"schedule-entry",
                               "no access of this kernel is wider than one element",
                               schedule.at("accesses"),
                               {},
                               {{"works", "accesses = \"elements\""}},
                               {}});
      return;
    }
    if (!variant) continue;
    variant->when.insert(variant->when.begin(), given->begin(), given->end());
    // The same for every width: of those that fit, the widest, which comes first, is taken.
    variant->cost = schedule.cost;
    // s64 by 16 and by 8 bytes differ; bytes by 4 and `any` of f32 do not.
    if (plan.variants.size() > count && same_conditions(plan.variants.back(), *variant)) continue;
    plan.variants.push_back(std::move(*variant));
  }
}

}  // namespace

void add_permute_variants(Plan& plan, const PermuteForm& form, const Facts& facts,
                          const Target& target) {
  int number = 0;
  Reach reach;
  for (const sema::Schedule& schedule : plan.kernel->schedules) {
    if (schedule.target != "simt") {
      plan.problems.push_back(
          {"unsupported",
           "there is no planner for " + schedule.target + " of a permute kernel",
           schedule.where,
           {},
           {{"works", "schedule " + plan.kernel->name + " for simt"}},
           {}});
      return;
    }
    PermuteSchedule read = read_permute_schedule(schedule, *plan.kernel, plan.problems);
    if (!plan.problems.empty()) return;
    ++number;
    if (read.name.empty()) read.name = number == 1 ? "simt" : "simt" + std::to_string(number);
    // A schedule that is never taken is planned all the same, for its mistakes.
    const bool superfluous = !reach.admits(plan.variants, read.cost);
    const auto count = static_cast<std::ptrdiff_t>(plan.variants.size());
    add_permute(plan, form, read, facts, target);  // checked even where it is never taken
    if (superfluous && plan.problems.empty())
      plan.variants.erase(plan.variants.begin() + count, plan.variants.end());
  }
  if (!plan.problems.empty() || takes_all(plan.variants)) return;
  PermuteSchedule none;
  none.where = plan.kernel->where;
  add_permute(plan, form, none, facts, target);
}

}  // namespace lay::plan
