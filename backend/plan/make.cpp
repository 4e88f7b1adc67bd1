#include "backend/plan/make.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "backend/plan/conditions.h"
#include "backend/plan/copies.h"
#include "backend/plan/mask.h"
#include "backend/plan/model/predict.h"
#include "backend/plan/operand_repack.h"
#include "backend/plan/permute/permute_variants.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/order.h"
#include "backend/plan/schedule/policy.h"
#include "backend/plan/schedule/tuned.h"
#include "backend/plan/simt/simt.h"
#include "backend/plan/simt/simt_ring.h"
#include "backend/plan/support.h"
#include "backend/plan/tensor_variant.h"
#include "backend/plan/tiles/staged_variants.h"
#include "backend/plan/tiles/tile_variants.h"
#include "backend/target/target.h"
#include "frontend/sema/library.h"

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

// What a layout that the user gave costs where another would not.
template <class Schedule>
void note_conflicts(Variant& variant, const Schedule& schedule) {
  if (!schedule.of_script) return;
  for (const BankConflicts& met : variant.prediction.conflicts) {
    const char operand = met.access.back();
    const bool asked = operand == 'A' ? schedule.shared_a.has_value()
                                      : operand == 'B' && schedule.shared_b.has_value();
    if (!asked || met.wavefronts <= met.least) continue;
    variant.notes.push_back(
        std::string("smem ") + operand + " meets bank conflicts: " + met.access + " takes " +
        std::to_string(met.wavefronts) + " wavefronts " + met.unit + ", and " +
        std::to_string(met.least) + " would do; without the entry a layout is chosen");
  }
}

class GemmPlanner {
 public:
  GemmPlanner(Plan& plan, const GemmForm& form, Facts& facts, const Target& target)
      : plan_(plan), kernel_(*plan.kernel), form_(form), facts_(facts), target_(target) {}

  void run() {
    add_variants_from_schedules();
    if (plan_.problems.empty()) add_variants_from_tuned();
    if (!plan_.problems.empty()) return;
    for (const std::string target : {"sm90", "sm80"}) {
      if (!completed_.contains(target)) follow(rows(target), target);
    }
    const std::array along_k{runs_along_k(kernel_, facts_, form_.a, form_.k),
                             runs_along_k(kernel_, facts_, form_.b, form_.k)};
    const auto policies = simt_policies(accumulator(), along_k);
    for (const Width width : {Width::vectors, Width::elements}) {
      for (const SimtPolicy& policy : policies) {
        if (complete()) return;
        if (add_variant_from_policy(policy, width, along_k)) break;
      }
    }
    if (!complete())
      plan_.variants.push_back(scalar_variant(kernel_, "no schedule takes all sizes", target_));
  }

 private:
  ElementType accumulator() const { return kernel_.node(form_.contraction).type; }
  const Int& extent(sema::IndexId index) const { return kernel_.index(index).extent; }
  bool complete() const { return !plan_.variants.empty() && unconditional(plan_.variants.back()); }

  void add_variants_from_schedules() {
    std::map<std::string, int> numbers;
    for (const sema::Schedule& schedule : kernel_.schedules) {
      const int number = ++numbers[schedule.target];
      const std::string name =
          schedule.target +
          (number == 1 ? "" : (schedule.target == "simt" ? "" : "_") + std::to_string(number));
      const bool of_tensor_cores = schedule.target == "sm80" || schedule.target == "sm90";
      if (!of_tensor_cores && schedule.target != "simt") {
        plan_.problems.push_back({"unsupported",
                                  "there is no planner for " + schedule.target + " yet",
                                  schedule.where,
                                  {},
                                  {{"works", "schedule " + kernel_.name + " for simt"}},
                                  {}});
        continue;
      }
      if (too_new(schedule)) continue;
      if (of_tensor_cores) {
        TensorSchedule read = read_tensor_schedule(
            with_operand_roles(schedule, kernel_, form_, plan_.problems), plan_.problems);
        read.name = name;
        if (!plan_.problems.empty()) continue;
        if (read.mma)
          follow(read, schedule.target);
        else
          add_variants_from_library(read, schedule.target);
        continue;
      }
      SimtSchedule read = read_schedule(
          with_operand_roles(schedule, kernel_, form_, plan_.problems), plan_.problems);
      read.name = name;
      if (plan_.problems.empty()) follow(read);
    }
  }

  // The library's rows under a schedule without an atom. Where none fits, the problem of one of
  // them is the schedule's: of the first at an entry that the schedule says, else of the first.
  void add_variants_from_library(const TensorSchedule& said, const std::string& target) {
    const bool superfluous = complete();  // checked all the same
    std::vector<Variant> before;
    if (superfluous) before.swap(plan_.variants);
    const auto count = plan_.variants.size();
    passed_over_.clear();
    const std::vector<Row> library = rows_for(said, target);
    follow(library, target);
    if (plan_.variants.size() > count) {
      if (said.when.empty()) completed_.insert(target);
    } else if (library.empty()) {
      plan_.problems.push_back(no_row(said, target));
    } else if (!passed_over_.empty()) {
      const auto is_said = [&](const Problem& problem) { return problem.where != said.where; };
      const auto found = std::find_if(passed_over_.begin(), passed_over_.end(), is_said);
      plan_.problems.push_back(found == passed_over_.end() ? passed_over_.front() : *found);
    }
    if (superfluous) plan_.variants = std::move(before);
  }

  Problem no_row(const TensorSchedule& said, const std::string& target) const {
    const auto type = [&](sema::NodeId factor) {
      return std::string(element_name(kernel_.loaded(factor).element));
    };
    return {"schedule-entry",
            "a schedule for " + target + " without `mma` is completed by a row of the library, " +
                "which has none for " + type(form_.a) + " by " + type(form_.b) + " into " +
                std::string(element_name(accumulator())),
            said.where,
            {},
            {{"help", "name an atom of these types as `mma`, or schedule the kernel for simt"}},
            {}};
  }

  // What was measured on this GPU for products of this class, before the library's policies.
  void add_variants_from_tuned() {
    const auto of = tuned_class(kernel_, form_, target_);
    if (!of) return;
    for (const std::string& family : tuned_families(target_)) {
      if (family != "simt" && of->a == of->acc) continue;  // as in `policies`
      int number = 0;
      for (const sema::TunedRow& row : tuned_rows(family, *of)) {
        if (complete()) return;
        const std::string name = (family == "simt" ? "" : family + "_") + "tuned" +
                                 (++number == 1 ? "" : "_" + std::to_string(number));
        const sema::Schedule said{family, {}, row.entries, kernel_.where};
        if (family == "simt")
          add_variants_from_row(read_schedule(said, plan_.problems), row, name, family);
        else
          add_variants_from_row(read_tensor_schedule(said, plan_.problems), row, name, family);
      }
    }
  }

  template <class Schedule>
  void add_variants_from_row(Schedule schedule, const sema::TunedRow& row, const std::string& name,
                             const std::string& family) {
    for (Problem& problem : plan_.problems)
      problem.message = "the tuned row " + row.name + ": " + problem.message;
    schedule.name = name;
    schedule.of_script = false;
    schedule.when = {here(row.when)};
    for (const Width width : {Width::vectors, Width::elements}) {
      if (!plan_.problems.empty() || (width == Width::elements && !row.any_pitch)) return;
      if constexpr (std::is_same_v<Schedule, SimtSchedule>) {
        Schedule each = schedule;
        if (width == Width::elements) each.name += "_any";
        add(each, width);
      } else {
        add(schedule, family, width);
      }
    }
    if constexpr (std::is_same_v<Schedule, TensorSchedule>) {
      if (family != "sm90" || !row.any_pitch) return;
      for (const Width width : {Width::vectors, Width::elements})
        for (const CopiedFactors& factors : copy_choices(kernel_, form_, schedule, facts_).all)
          add_on_copies(schedule, factors, width);
    }
  }

  // A schedule "for sm90" is for GPUs from compute capability 9.0 on.
  bool too_new(const sema::Schedule& schedule) {
    int since = 0;
    const std::string& word = schedule.target;
    if (!word.starts_with("sm") ||
        std::from_chars(word.data() + 2, word.data() + word.size(), since).ec != std::errc())
      return false;
    if (since <= target_.capability) return false;
    plan_.notes.push_back("passed over: a schedule for " + word + ", and " + target_.name +
                          " has compute capability " + capability_text(target_.capability));
    return true;
  }

  void follow(const SimtSchedule& schedule) {
    const bool superfluous = complete();  // checked all the same
    const auto count = plan_.variants.size();
    add(schedule, Width::vectors);
    if (plan_.problems.empty() && (superfluous || !complete())) add(schedule, Width::elements);
    if (superfluous) plan_.variants.resize(count);
  }

  void follow(const TensorSchedule& schedule, const std::string& target) {
    const bool superfluous = complete();  // checked all the same
    const auto count = plan_.variants.size();
    const auto copies =
        target == "sm90" ? copy_choices(kernel_, form_, schedule, facts_) : CopyChoices{};
    if (!copies.needed || copies.all.empty()) {
      add(schedule, target, Width::vectors);
      if (plan_.problems.empty() && (superfluous || !complete()))
        add(schedule, target, Width::elements);
    }
    for (const Width width : {Width::vectors, Width::elements}) {
      for (const CopiedFactors& factors : copies.all) {
        if (plan_.problems.empty() && (superfluous || !complete()))
          add_on_copies(schedule, factors, width);
      }
    }
    if (superfluous) plan_.variants.resize(count);
  }

  void add(TensorSchedule schedule, const std::string& target, Width width) {
    if (width == Width::elements) schedule.name += "_any";
    auto made = tensor_variant(target, kernel_, form_, schedule, width, target_, facts_,
                               problems_of(schedule));
    if (!made) return;
    note_conflicts(*made, schedule);
    keep(std::move(*made), width);
  }

  // A row of the library that does not fit is passed over, also where it completes a schedule.
  std::vector<Problem>& problems_of(const TensorSchedule& schedule) {
    return schedule.completed ? passed_over_ : plan_.problems;
  }

  // Single elements are a variant of their own where they need less than vectors.
  void keep(Variant made, Width width) {
    const auto same = [&](const Variant& other) {
      return other.when == made.when && other.aligned == made.aligned;
    };
    const bool known =
        width == Width::elements && std::any_of(plan_.variants.begin(), plan_.variants.end(), same);
    if (!known) plan_.variants.push_back(std::move(made));
  }

  // What is only transposed is copied in wide accesses where it can be.
  void add_on_copies(TensorSchedule schedule, const CopiedFactors& factors, Width width) {
    if (width == Width::elements) schedule.name += "_any";
    for (const int bytes : {16, 0}) {
      if (bytes > 0 && !factors.transposed) continue;
      auto made = copying_variant(kernel_, form_, schedule, factors, bytes, width, target_, facts_,
                                  copies_, problems_of(schedule));
      if (made) keep(std::move(*made), width);
    }
  }

  // Rows of the standard library's policies: schedules in Lay, and the sizes that they are for.
  // They are for operands narrower than their sum, which is what tensor cores multiply; to read the
  // library takes longer than all else in the plan of another kernel.
  std::vector<sema::Policy> policies(const std::string& target, bool in_parts) const {
    const ElementType a = kernel_.loaded(form_.a).element, b = kernel_.loaded(form_.b).element;
    if (complete() || a == accumulator()) return {};
    const auto along_k = [&](sema::NodeId factor) {
      return runs_along_k(kernel_, facts_, factor, form_.k);
    };
    return sema::library_policies(
        target, {a, b, accumulator(), arithmetic(), mask_of(kernel_, form_.contraction).has_value(),
                 stored_bits(), along_k(form_.a), along_k(form_.b), reads_inputs(), in_parts,
                 !form_.batch.empty()});
  }

  bool reads_inputs() const {
    const auto loads = loads_outside(kernel_, form_.contraction);
    return std::any_of(loads.begin(), loads.end(),
                       [&](sema::NodeId id) { return kernel_.load(id).coordinate.size() > 1; });
  }

  // Of the widest output.
  int stored_bits() const {
    int most = 0;
    for (const sema::Assignment& assignment : kernel_.assignments)
      most = std::max(most, bits(kernel_.tensor(assignment.target).element));
    return most;
  }

  // Of the output with most of it.
  int arithmetic() const {
    int most = 0;
    for (const sema::Assignment& assignment : kernel_.assignments)
      most = std::max(most, arithmetic_outside(kernel_, assignment.value, form_.contraction));
    return most;
  }

  Predicate here(const Predicate& condition) const {
    Int batches = 1;
    for (sema::IndexId index : form_.batch) batches *= extent(index);
    return sema::under(condition,
                       {extent(form_.m), extent(form_.n), extent(form_.k), batches, target_.sms});
  }

  // A schedule of the library's, the sizes for which it is worth copying factors first, and whether
  // it is also taken where outputs are stored element by element.
  struct Row {
    TensorSchedule schedule;
    Predicate copies;
    bool elements = true;
  };

  std::vector<Row> rows(const std::string& target, bool in_parts = false) {
    std::vector<Row> made;
    for (const sema::Policy& policy : policies(target, in_parts)) {
      TensorSchedule schedule =
          read_tensor_schedule({target, {}, policy.entries, kernel_.where}, plan_.problems);
      schedule.name = target + "_" + policy.name;
      schedule.of_script = false;
      schedule.when = {here(policy.when)};
      made.push_back({std::move(schedule), here(policy.copies), policy.elements});
    }
    return made;
  }

  // The library's rows with what the schedule says in place of theirs.
  std::vector<Row> rows_for(const TensorSchedule& said, const std::string& target) {
    std::vector<Row> made = rows(target, said.promotion_interval.value_or(0) > 0);
    for (Row& row : made) {
      TensorSchedule& schedule = row.schedule;
      schedule.name = said.name + "_own" + schedule.name.substr(target.size());
      schedule.of_script = schedule.completed = true;
      schedule.where = said.where;
      schedule.entries = said.entries;
      schedule.when.insert(schedule.when.begin(), said.when.begin(), said.when.end());
      const auto take = [](auto& into, const auto& from) {
        if (from) into = from;
      };
      take(schedule.tile, said.tile);
      take(schedule.groups, said.groups);
      take(schedule.cluster, said.cluster);
      take(schedule.promotion_interval, said.promotion_interval);
      take(schedule.alternate_k, said.alternate_k);
      take(schedule.stages, said.stages);
      take(schedule.order, said.order);
      take(schedule.shared_a, said.shared_a);
      take(schedule.shared_b, said.shared_b);
      if (said.entries.contains("swap_ab")) schedule.swap_ab = said.swap_ab;
    }
    return made;
  }

  void follow(const std::vector<Row>& library, const std::string& target) {
    for (const Width width : {Width::vectors, Width::elements}) {
      for (const Row& row : library) {
        if (complete()) return;
        if (row.elements || width == Width::vectors) add(row.schedule, target, width);
      }
    }
    if (target == "sm90") add_variants_on_copies(library);
  }

  // The same rows once more, as far as they say that products of these sizes are worth copying
  // factors for.
  void add_variants_on_copies(const std::vector<Row>& library) {
    std::vector<TensorSchedule> schedules;
    for (const Row& row : library) {
      const auto worth = open_conditions(facts_, {row.copies});
      if (!worth) continue;
      schedules.push_back(row.schedule);
      schedules.back().when.insert(schedules.back().when.end(), worth->begin(), worth->end());
    }
    if (schedules.empty()) return;
    const CopyChoices choices = copy_choices(kernel_, form_, schedules.front(), facts_);
    for (const Width width : {Width::vectors, Width::elements}) {
      for (const CopiedFactors& factors : choices.all) {
        for (const TensorSchedule& schedule : schedules) {
          if (complete()) return;
          add_on_copies(schedule, factors, width);
        }
      }
    }
  }

  // Whether this row is taken for all sizes, so that no further one is needed at this width.
  bool add_variant_from_policy(const SimtPolicy& policy, Width width,
                               const std::array<bool, 2>& along_k) {
    const bool ring = policy.stages > 2;
    if (ring && width == Width::elements) return false;
    SimtSchedule schedule;
    schedule.name = policy.name;
    if (width == Width::elements) schedule.name += "_any";
    schedule.tile = policy.tile;
    if (width == Width::vectors && !along_k[0] && !along_k[1]) (*schedule.tile)[2] = policy.k_outer;
    schedule.groups = policy.groups;
    schedule.lane_tile = policy.lane_tile;
    schedule.stages = policy.stages;
    schedule.where = kernel_.where;
    Int all = tiles(kernel_, form_.m, policy.tile[0]) * tiles(kernel_, form_.n, policy.tile[1]);
    for (sema::IndexId index : form_.batch) all *= extent(index);
    if (policy.quarter_waves > 0) {
      schedule.when = {greater_equal(all, policy.quarter_waves * target_.sms / 4),
                       greater_equal(extent(form_.m), policy.tile[0]),
                       greater_equal(extent(form_.n), policy.tile[1])};
    }
    const auto open = open_conditions(facts_, schedule.when);
    if (!open) return false;
    add(schedule, width);
    return open->empty() && !ring;
  }

  // Element by element the producer threads would need more registers than a ring leaves them: two
  // stages.
  void add(SimtSchedule schedule, Width width) {
    if (width == Width::elements) schedule.stages = 2;
    const auto given = open_conditions(facts_, schedule.when);
    if (!given) return;
    std::vector<Problem> of_policies;  // a row of the library that does not fit is passed over
    std::vector<Problem>& problems = schedule.of_script ? plan_.problems : of_policies;
    Facts facts = facts_;
    if (schedule.of_script) {  // what a schedule asks for need not be asked again; the tile counts
                               // of a policy say nothing about it
      for (const Predicate& condition : *given) facts.assume(condition);
    }
    Conditions conditions{*given, {}};
    auto gemm = shape_gemm(kernel_, form_, schedule, target_, problems);
    if (!gemm) return;
    if (!plan_copies(*gemm, kernel_, form_, facts, target_, width, schedule, conditions, problems))
      return;
    // Vectors of one element are the variant that comes later.
    if (width == Width::vectors && conditions.aligned.empty()) return;
    auto open = open_conditions(facts_, conditions.when);
    if (!open) return;
    gemm->blocks_per_sm = blocks_per_sm(*gemm, target_);
    Variant variant;
    variant.name = schedule.name;
    if (schedule.of_script && width == Width::elements) variant.name += "_any";
    variant.when = *open;
    variant.aligned = conditions.aligned;
    variant.prediction = predict(kernel_, *gemm, target_);
    if (!fits(*gemm, variant.prediction, schedule, problems)) return;
    variant.how = *gemm;
    if (schedule.of_script) variant.schedule = schedule.where;
    note_conflicts(variant, schedule);
    plan_.variants.push_back(std::move(variant));
  }

  bool fits(const SimtGemm& gemm, const Prediction& prediction, const SimtSchedule& schedule,
            std::vector<Problem>& problems) const {
    const auto problem = [&](const char* code, std::string message) {
      const std::string help =
          schedule.stages > 2 ? "fewer stages or a smaller tile" : "a smaller tile";
      problems.push_back({code, std::move(message), schedule.at("tile"), {}, {{"help", help}}, {}});
      return false;
    };
    if (prediction.shared_bytes > target_.block_shared) {
      return problem("schedule-shared", "the tile takes " +
                                            std::to_string(prediction.shared_bytes) +
                                            " bytes of shared memory, and a block has " +
                                            std::to_string(target_.block_shared));
    }
    const int held = gemm.ring() ? gemm.registers[1] : target_.thread_registers;
    if (const int least = least_registers(gemm); least > held) {
      return problem("schedule-registers", "the tile takes at least " + std::to_string(least) +
                                               " registers a thread, which has " +
                                               std::to_string(held));
    }
    return true;
  }

  Plan& plan_;
  const sema::Kernel& kernel_;
  const GemmForm& form_;
  Facts& facts_;
  const Target& target_;
  KnownCopies copies_;
  std::vector<Problem> passed_over_;  // why rows do not complete a schedule
  std::set<std::string>
      completed_;  // targets that have the library's rows under a schedule for all sizes
};

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
  if (gemm.kernel != plan.kernel) plan.coalesced = gemm.kernel;
  Plan made{gemm.kernel, {}, {}};
  GemmPlanner(made, gemm.form, facts, target).run();
  plan.problems = std::move(made.problems);
  plan.notes = std::move(made.notes);
  for (Variant& variant : made.variants) {
    if (!variant.kernel) variant.kernel = plan.coalesced;
    variant.when.insert(variant.when.end(), needed->begin(), needed->end());
    plan.variants.push_back(std::move(variant));
  }
  if (plan.problems.empty() && !needed->empty())
    plan.variants.push_back(
        scalar_variant(*plan.kernel, "more than 2^31 rows, columns or products", target));
}

void plan_kernel(Plan& plan, const Target& target) {
  check_support(*plan.kernel, plan.problems);
  if (!plan.problems.empty()) return;
  Facts facts = facts_of(*plan.kernel);
  auto form = recognise_coalesced(plan.kernel, facts);
  if (std::holds_alternative<NotGemm>(form)) {
    const auto change = recognise_permute(*plan.kernel, facts);
    const auto* found = std::get_if<PermuteForm>(&change);
    if (found && !(plan.kernel->schedules.empty() && has_tiles(*plan.kernel, facts)))
      return add_permute_variants(plan, *found, facts, target);
  }
  if (auto* no = std::get_if<NotGemm>(&form)) {
    if (const auto reason = add_tile_variants(plan, facts, target)) {
      if (!add_staged_variants(plan, facts, target))
        return plan_scalar(plan, no->reason + ", and " + *reason, target);
      refuse_schedules(plan, "`" + plan.kernel->name + "` runs in several launches, for " + *reason,
                       "a kernel for each launch takes a schedule");
    }
    if (plan.problems.empty() && (plan.variants.empty() || !unconditional(plan.variants.back())))
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
    std::erase_if(plan.variants,
                  [&](const Variant& variant) { return contradicts(known, variant.when); });
  } catch (const Refusal& refusal) {
    plan.problems.push_back(problem_of(refusal, plan.kernel->where));
  }
  if (!plan.problems.empty()) plan.variants.clear();
  return plan;
}

}  // namespace lay::plan
