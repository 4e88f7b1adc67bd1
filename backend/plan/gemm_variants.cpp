#include "backend/plan/gemm_variants.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "backend/plan/conditions.h"
#include "backend/plan/copies.h"
#include "backend/plan/model/predict.h"
#include "backend/plan/operand_repack.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/conflict_notes.h"
#include "backend/plan/schedule/library_rows.h"
#include "backend/plan/schedule/order.h"
#include "backend/plan/schedule/problems.h"
#include "backend/plan/schedule/tuned.h"
#include "backend/plan/simt/bind_simt.h"
#include "backend/plan/simt/simt_variant.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/plan/tensor_variant.h"
#include "frontend/sema/library.h"

namespace lay::plan {

namespace {

constexpr int widest_repack = 16;  // bytes of an access

// Adds variants in the order in which the launcher tries them:
//   1  the script's schedules, as written, with vectors and then element by element
//   2  rows that `lay tune` measured on this GPU for products of this class
//   3  the library's policies for sm90, then sm80, where the element types have an atom
//   4  the policies for CUDA cores, with vectors, then element by element
// The list is complete when a variant of its last portfolio has no condition: no launch gets past
// that.
class GemmPlanner {
 public:
  GemmPlanner(Plan& plan, const GemmForm& form, Facts& facts, const Target& target)
      : plan_(plan), kernel_(*plan.kernel), form_(form), facts_(facts), target_(target) {}

  void run() {
    add_variants_from_schedules();
    if (plan_.problems.empty()) add_variants_from_tuned();
    if (!plan_.problems.empty()) return;
    for (const std::string target : {"sm90", "sm80"}) {
      if (!takes_form(target, form_)) continue;
      // A schedule without `mma` for all sizes has the library's rows under it already: the same
      // rows without it would never be reached.
      if (!completed_.contains(target)) follow(rows(target), target);
    }
    if (has_scales() || is_read_as_it_lies()) return;
    follow(simt_rows());
  }

  // Adds the variants of a row alone: for the accesses that it says, or else by vectors; on Hopper,
  // as `like` has its accesses and copies factors, with any choice of these.
  void add_row(const std::string& family, const sema::Policy& row, const Variant* like) {
    const sema::Schedule said{family, {}, row.entries, kernel_.where};
    if (family == "simt") {
      std::vector<SimtSchedule> made{read_schedule(said, plan_.problems)};
      as_row(made.front(), family, row);
      if (!made.front().accesses) made.front().accesses = Width::vectors;
      follow(made);
    } else {
      TensorSchedule made = read_tensor_schedule(said, plan_.problems);
      const std::optional<Cost> cost = made.cost;
      as_row(made, family, row);
      const Width width = like ? like->accesses : Width::vectors;
      if (!like || like->before.empty()) return add(made, family, width);
      for (const CopiedFactors& factors : copy_choices(kernel_, form_, made, facts_).all) {
        if (cost) made.cost = cost_on_copies(*cost, factors);
        add_on_copies(made, factors, width);
      }
    }
  }

 private:
  bool has_scales() const { return !form_.scales.empty(); }
  bool is_read_as_it_lies() const { return plan::is_read_as_it_lies(form_); }
  bool complete() const { return takes_all(plan_.variants); }
  // Returns true if the launcher may take a variant of this schedule behind those there are.
  bool is_reachable(const ScheduleHead& schedule) {
    return reach_.admits(plan_.variants, schedule.cost);
  }

  // Adds a problem for outputs that only a launch behind a product of another kernel would permute.
  bool permutes_in_vain(const ScheduleHead& read) {
    if (read.permuted_outputs) plan_.problems.push_back(outputs_of_tiles(read));
    return read.permuted_outputs;
  }

  void add_variants_from_schedules() {
    std::map<std::string, int> numbers;
    for (const sema::Schedule& schedule : kernel_.schedules) {
      const int number = ++numbers[schedule.target];
      // Names are unique, as kernels in CUDA: simt, simt2; sm90, sm90_2.
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
        if (read.name.empty()) read.name = name;
        if (!plan_.problems.empty() || permutes_in_vain(read)) continue;
        if (read.stored_operands && !form_.has_views()) {
          plan_.problems.push_back(operands_of_tensors(read));
          continue;
        }
        const auto count = plan_.variants.size();
        // With an atom a schedule is whole: everything else has a default that follows from it.
        // Rows for several products take the sizes that the schedule takes, and no others.
        if (!form_.further.empty() && read.when.empty() && !read.accesses)
          completed_.insert(schedule.target);
        if (read.mma)
          follow(read, schedule.target);
        else if (read.repack_a || read.repack_b)
          plan_.problems.push_back(repack_without_atom(read));
        else
          add_variants_from_library(read, schedule.target);
        if (plan_.problems.empty()) check_copies(plan_, read, count);
        continue;
      }
      SimtSchedule read = read_schedule(
          with_operand_roles(schedule, kernel_, form_, plan_.problems), plan_.problems);
      if (read.name.empty()) read.name = name;
      if (plan_.problems.empty() && !permutes_in_vain(read)) follow(read);
    }
  }

  // The library's rows under a schedule without an atom. Where none fits, the problem of one of
  // them is the schedule's: of the first at an entry that the schedule says, else of the first.
  void add_variants_from_library(const TensorSchedule& said, const std::string& target) {
    // A schedule behind one that takes all sizes is never launched, but its mistakes are reported.
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
      plan_.problems.push_back(no_row(kernel_, form_, said, target));
    } else if (!passed_over_.empty()) {
      // A row fails for its own entries or for those of the script. The latter stand at a line of
      // the script, and are what the user can mend.
      const auto is_said = [&](const Problem& problem) { return problem.where != said.where; };
      const auto found = std::find_if(passed_over_.begin(), passed_over_.end(), is_said);
      plan_.problems.push_back(found == passed_over_.end() ? passed_over_.front() : *found);
    }
    if (superfluous) plan_.variants = std::move(before);
  }

  // Adds the rows measured on this GPU for products of this class, before the library's policies.
  void add_variants_from_tuned() {
    // Rows are measured for products of two tensors, whose rows are all of one segment.
    const auto of =
        has_scales() || is_read_as_it_lies() ? std::nullopt : tuned_class(kernel_, form_, target_);
    if (!of) return;
    for (const std::string& family : tuned_families(target_)) {
      // Tensor cores multiply operands that are narrower than their sum: f32 by f32 has no row
      // there.
      if (family != "simt" && of->a == of->acc) continue;  // as in library_rows
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
    schedule.is_tuned = true;
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
        // Pitches that TMA does not take: the same row behind a launch that repacks the operand.
        for (const CopiedFactors& factors : copy_choices(kernel_, form_, schedule, facts_).all)
          add_on_copies(schedule, factors, width);
    }
  }

  // Notes a schedule for later GPUs, and returns whether it is one.
  bool too_new(const sema::Schedule& schedule) {
    if (!is_too_new(schedule, target_)) return false;
    plan_.notes.push_back("passed over: a schedule for " + schedule.target + ", and " +
                          target_.name + " has compute capability " +
                          capability_text(target_.capability));
    return true;
  }

  void follow(const SimtSchedule& schedule) {
    const bool superfluous = !is_reachable(schedule);  // checked all the same
    const auto count = plan_.variants.size();
    // A printed schedule says its accesses: it comes back as the one variant that it was.
    if (schedule.accesses) {
      add(schedule, *schedule.accesses);
      if (superfluous) plan_.variants.resize(count);
      return;
    }
    // Two variants: vectors under the conditions of their alignment, and single elements for the
    // rest. The second one is needed only where the first has a condition.
    add(schedule, Width::vectors);
    if (plan_.problems.empty() && (superfluous || is_reachable(schedule)))
      add(schedule, Width::elements);
    if (superfluous) plan_.variants.resize(count);
  }

  void follow(const TensorSchedule& schedule, const std::string& target) {
    const bool superfluous = !is_reachable(schedule);  // checked all the same
    const auto count = plan_.variants.size();
    if (schedule.accesses || schedule.repack_a || schedule.repack_b) {
      add_variants_as_said(schedule, target);
      if (superfluous) plan_.variants.resize(count);
      return;
    }
    const auto copies = target == "sm90" && !is_read_as_it_lies()
                            ? copy_choices(kernel_, form_, schedule, facts_)
                            : CopyChoices{};
    // `needed`: no sizes let TMA read an operand as it lies (X[k,m] read along k, an odd literal
    // pitch), so that only repacked operands can be used.
    if (!copies.needed || copies.all.empty()) {
      add(schedule, target, Width::vectors);
      if (plan_.problems.empty() && (superfluous || is_reachable(schedule)))
        add(schedule, target, Width::elements);
    }
    for (const Width width : {Width::vectors, Width::elements}) {
      for (const CopiedFactors& factors : copies.all) {
        if (plan_.problems.empty() && (superfluous || is_reachable(schedule)))
          add_on_copies(schedule, factors, width);
      }
    }
    if (superfluous) plan_.variants.resize(count);
  }

  // The accesses that the schedule says, or both, and the operands that it repacks, or none.
  void add_variants_as_said(const TensorSchedule& schedule, const std::string& target) {
    const bool repacks = schedule.repack_a || schedule.repack_b;
    if (repacks && is_read_as_it_lies()) {
      plan_.problems.push_back(repack_in_place(schedule, form_));
      return;
    }
    const auto factors =
        repacks ? said_factors(kernel_, form_, schedule, facts_, plan_.problems) : std::nullopt;
    if (repacks && !factors) return;
    // One launch copies both operands, so that what one entry says holds for both.
    const int bytes =
        schedule.repack_a.value_or(schedule.repack_b.value_or(Width::elements)) == Width::vectors
            ? widest_repack
            : 0;
    for (const Width width : {Width::vectors, Width::elements}) {
      if (!plan_.problems.empty() || schedule.accesses.value_or(width) != width) continue;
      if (repacks)
        add_on_copies(schedule, *factors, bytes, width);
      else
        add(schedule, target, width);
    }
  }

  void add(TensorSchedule schedule, const std::string& target, Width width) {
    if (width == Width::elements && !has_own_name(schedule)) schedule.name += "_any";
    auto made = tensor_variant(target, plan_.kernel, form_, schedule, width, target_, facts_,
                               problems_of(schedule));
    if (!made) return;
    note_conflicts(*made, schedule, [&](const TensorSchedule& free) {
      std::vector<Problem> ignored;
      return tensor_variant(target, plan_.kernel, form_, free, width, target_, facts_, ignored);
    });
    plan_.variants.push_back(std::move(*made));
  }

  // Returns true if the schedule is one variant that has the schedule's own name.
  static bool has_own_name(const ScheduleHead& schedule) { return schedule.accesses.has_value(); }
  static bool has_own_name(const TensorSchedule& schedule) {
    return schedule.accesses.has_value() && !schedule.completed;
  }

  // A row of the library that does not fit is passed over, also where it completes a schedule.
  std::vector<Problem>& problems_of(const TensorSchedule& schedule) {
    return schedule.completed ? passed_over_ : plan_.problems;
  }

  // Adds variants on copies. Factors that are only transposed use wide accesses where they can.
  void add_on_copies(const TensorSchedule& schedule, const CopiedFactors& factors, Width width) {
    for (const int bytes : {widest_repack, 0}) {
      // A transpose is read along one index and written along another, in 16-byte accesses where
      // both allow it. A copy that only changes the pitch cannot use them: its source is not
      // aligned.
      if (bytes > 0 && !factors.transposed) continue;
      add_on_copies(schedule, factors, bytes, width);
    }
  }

  void add_on_copies(TensorSchedule schedule, const CopiedFactors& factors, int bytes,
                     Width width) {
    const std::string own = schedule.name;
    if (width == Width::elements) schedule.name += "_any";
    auto made = copying_variant(kernel_, form_, schedule, factors, bytes, width, target_, facts_,
                                copies_, problems_of(schedule));
    if (!made) return;
    // The suffixes tell variants of one schedule apart; a schedule of one variant has none.
    if (has_own_name(schedule)) made->name = own;
    plan_.variants.push_back(std::move(*made));
  }

  template <class Term>
  Term here(const Term& term) const {
    // A policy's condition is written over its own M, N, K, batches and number of SMs: these take
    // the kernel's extents, so that `M * N >= 128 * 256 * sms` becomes a condition on the kernel's
    // dims.
    return sema::under(term, product_size(kernel_, form_, target_));
  }

  // What a row of the library costs on copies. Where both factors run along k and are copied their
  // rows begin with lines of memory, whatever k is. That the copies take a launch is in no cost:
  // schedules that need them are a portfolio of their own.
  Cost cost_on_copies(const Cost& said, const CopiedFactors& factors) {
    return {sema::under(said.value, size_on_copies(kernel_, form_, facts_, factors, target_)),
            library_portfolio_};
  }

  // A schedule of the library's and its cost over the library's dims; the sizes for which it is
  // taken with factors that are copied first, and whether it is also taken where outputs are stored
  // element by element.
  struct Row {
    TensorSchedule schedule;
    std::optional<Cost> cost;
    Predicate copies;
    bool elements = true;
  };

  // The row's schedule is read as a script's is: a policy that breaks a law is found by the same
  // checks.
  std::vector<Row> rows(const std::string& target, bool in_parts = false) {
    std::vector<Row> made;
    if (complete()) return {};
    --library_portfolio_;
    for (const sema::Policy& policy :
         library_rows(target, kernel_, form_, facts_, in_parts, target_)) {
      TensorSchedule schedule =
          read_tensor_schedule({target, {}, policy.entries, kernel_.where}, plan_.problems);
      const std::optional<Cost> cost = schedule.cost;
      as_row(schedule, target, policy);
      made.push_back({std::move(schedule), cost, here(policy.copies), policy.elements});
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
      // Problems at entries that the user wrote point there; at entries of the row, at the whole
      // schedule.
      schedule.entries = said.entries;
      schedule.when.insert(schedule.when.begin(), said.when.begin(), said.when.end());
      // The user's entries win over those of the row, entry by entry.
      const auto take = [](auto& into, const auto& from) {
        if (from) into = from;
      };
      take(schedule.cost, said.cost);
      if (said.cost) row.cost.reset();
      take(schedule.accesses, said.accesses);
      take(schedule.tile, said.tile);
      take(schedule.groups, said.groups);
      take(schedule.cluster, said.cluster);
      take(schedule.promotion_interval, said.promotion_interval);
      take(schedule.alternate_k, said.alternate_k);
      take(schedule.tail, said.tail);
      take(schedule.stages, said.stages);
      take(schedule.order, said.order);
      take(schedule.shared_a, said.shared_a);
      take(schedule.shared_b, said.shared_b);
      // A layout in shared memory is of an operand that all threads copy.
      if (said.shared_a || said.entries.contains("private A")) schedule.private_a = said.private_a;
      if (said.shared_b || said.entries.contains("private B")) schedule.private_b = said.private_b;
      if (!said.copies.empty()) schedule.copies = said.copies;
      if (said.entries.contains("swap_ab")) schedule.swap_ab = said.swap_ab;
    }
    return made;
  }

  // Every row with vectors comes before any row without: a launch that may use vectors does.
  void follow(const std::vector<Row>& library, const std::string& target) {
    const int of_elements = --library_portfolio_;
    for (const Width width : {Width::vectors, Width::elements}) {
      for (const Row& row : library) {
        TensorSchedule schedule = row.schedule;
        if (target == "sm80" && width == Width::elements) set_portfolio(schedule.cost, of_elements);
        const bool said =
            schedule.accesses.value_or(width) == width && (row.elements || width == Width::vectors);
        if (said && is_reachable(schedule)) add(schedule, target, width);
      }
    }
    if (target == "sm90" && !is_read_as_it_lies()) add_variants_on_copies(library);
  }

  // The same rows once more, as far as they say that they are taken with factors that are copied
  // first.
  void add_variants_on_copies(const std::vector<Row>& library) {
    std::vector<Row> rows;
    for (const Row& row : library) {
      const auto taken = open_conditions(facts_, {row.copies});
      if (!taken) continue;
      rows.push_back(row);
      // In place of the row's own condition, which stands behind those that a script says.
      std::vector<Predicate>& when = rows.back().schedule.when;
      when.pop_back();
      when.insert(when.end(), taken->begin(), taken->end());
    }
    if (rows.empty()) return;
    --library_portfolio_;
    const CopyChoices choices = copy_choices(kernel_, form_, rows.front().schedule, facts_);
    for (const Width width : {Width::vectors, Width::elements}) {
      for (const CopiedFactors& factors : choices.all) {
        for (Row& row : rows) {
          TensorSchedule& schedule = row.schedule;
          if (row.cost) schedule.cost = cost_on_copies(*row.cost, factors);
          if (!is_reachable(schedule)) continue;
          if (schedule.accesses.value_or(width) == width) add_on_copies(schedule, factors, width);
        }
      }
    }
  }

  // The library's rows for CUDA cores. Those that the GPU cannot run, rings and clusters before
  // compute capability 9.0, are not among them, or are passed over where they are added.
  std::vector<SimtSchedule> simt_rows() {
    std::vector<SimtSchedule> made;
    if (complete()) return {};
    --library_portfolio_;
    for (const sema::Policy& policy :
         library_rows("simt", kernel_, form_, facts_, false, target_)) {
      made.push_back(read_schedule({"simt", {}, policy.entries, kernel_.where}, plan_.problems));
      as_row(made.back(), "simt", policy);
      if (made.back().accesses == Width::elements)
        set_portfolio(made.back().cost, library_portfolio_ - 1);
    }
    --library_portfolio_;
    return made;
  }

  // What every schedule of the library has. Sizes are over the same M, N, K, batches and SMs; costs
  // that a script says are in another unit.
  void as_row(ScheduleHead& schedule, const std::string& family, const sema::Policy& policy) const {
    schedule.name = family + "_" + policy.name;
    schedule.of_script = false;
    schedule.when = {here(policy.when)};
    if (schedule.cost) schedule.cost = Cost{here(schedule.cost->value), library_portfolio_};
  }

  void follow(const std::vector<SimtSchedule>& library) {
    for (const Width width : {Width::vectors, Width::elements}) {
      for (SimtSchedule row : library) {
        if (!is_reachable(row) || row.accesses.value_or(width) != width) continue;
        if (width == Width::elements) row.name += "_any";
        add(row, width);
      }
    }
  }

  void add(const SimtSchedule& schedule, Width width) {
    std::vector<Problem> of_policies;  // a row of the library that does not fit is passed over
    auto made = simt_variant(plan_.kernel, form_, schedule, width, target_, facts_,
                             schedule.of_script ? plan_.problems : of_policies);
    if (made) plan_.variants.push_back(std::move(*made));
  }

  Plan& plan_;
  const sema::Kernel& kernel_;
  const GemmForm& form_;
  Facts& facts_;
  const Target& target_;
  Reach reach_;
  int library_portfolio_ = 0;  // below those that a script may say; another one each time
  KnownCopies copies_;
  std::vector<Problem> passed_over_;  // why rows do not complete a schedule
  std::set<std::string>
      completed_;  // targets that have the library's rows under a schedule for all sizes
};

}  // namespace

bool is_too_new(const sema::Schedule& schedule, const Target& target) {
  int since = 0;
  const std::string& word = schedule.target;
  // "sm90" is 9.0 and "sm100" 10.0: the digits are ten times the compute capability.
  return word.starts_with("sm") &&
         std::from_chars(word.data() + 2, word.data() + word.size(), since).ec == std::errc() &&
         since > target.capability;
}

void add_gemm_variants(Plan& plan, const GemmForm& form, Facts& facts, const Target& target) {
  GemmPlanner(plan, form, facts, target).run();
}

std::optional<std::string> product_family(const Variant& variant) {
  if (is_sm90(variant)) return "sm90";
  if (sm80_of(variant)) return "sm80";
  if (simt_of(variant)) return "simt";
  return std::nullopt;
}

std::optional<Variant> row_variant(const sema::KernelPtr& kernel, const GemmForm& form,
                                   Facts& facts, const Target& target, const std::string& family,
                                   const sema::Policy& row, const Variant* like) {
  // Planned alone, so that no variant before hides it.
  Plan plan{kernel, {}, {}};
  GemmPlanner(plan, form, facts, target).add_row(family, row, like);
  if (!plan.problems.empty()) return std::nullopt;
  // Copies are named by what they copy, and in which accesses.
  const auto name_of_copies = [](const Variant& variant) {
    return variant.before.empty() ? "" : variant.before.front()->variants.front().name;
  };
  for (Variant& each : plan.variants)
    if (!like || name_of_copies(each) == name_of_copies(*like)) return std::move(each);
  return std::nullopt;
}

}  // namespace lay::plan
