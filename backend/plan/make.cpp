#include "backend/plan/make.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "backend/plan/conditions.h"
#include "backend/plan/gemm_variants.h"
#include "backend/plan/grouped/grouped_variants.h"
#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/launches/permuted_outputs.h"
#include "backend/plan/model/predict.h"
#include "backend/plan/permute/permute_variants.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/stated_sizes.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/plan/support.h"
#include "backend/plan/tiles/chained_variants.h"
#include "backend/plan/tiles/staged_variants.h"
#include "backend/plan/tiles/tile_variants.h"
#include "backend/plan/views/recognise_views.h"
#include "backend/target/target.h"

namespace lay::plan {

namespace {

Problem problem_of(const Refusal& refusal, const Span& where) {
  return {refusal.code, refusal.message, where, {}, refusal.notes(), {}};
}

Variant scalar_variant(const sema::KernelPtr& kernel, const std::string& reason,
                       const Target& target) {
  Variant variant;
  variant.name = "scalar";
  variant.programs = tile::bind_each_element(kernel);
  variant.prediction = predict_each_element(*kernel, variant.programs, target);
  variant.notes.push_back("one thread an output element: " + reason);
  return variant;
}

bool is_complete(const Plan& plan) {
  return takes_all(plan.variants);
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
  plan.variants.push_back(scalar_variant(plan.kernel, reason, target));
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

// Returns the smaller of two costs where that is known, the first of equal ones; else nothing.
const Variant* cheaper(const Variant& a, const Variant& b) {
  const Int &of_a = a.cost->value, &of_b = b.cost->value;
  if (of_a == of_b) return &a;
  if (!of_a.is_literal() || !of_b.is_literal()) return nullptr;
  return of_a.value() <= of_b.value() ? &a : &b;
}

// Equal conditions are met by equal launches, of which the first variant takes all. In a portfolio
// it is the one that costs less, where that is known: of literal sizes one variant stays, of
// others all that may cost the least.
void drop_unreached(std::vector<Variant>& variants) {
  std::vector<Variant> kept;
  for (Variant& variant : variants) {
    const auto same = std::find_if(kept.rbegin(), kept.rend(), [&](const Variant& each) {
      return same_conditions(each, variant) &&
             (!in_one_portfolio(each.cost, variant.cost) || cheaper(each, variant));
    });
    if (same == kept.rend()) {
      kept.push_back(std::move(variant));
    } else if (in_one_portfolio(same->cost, variant.cost) && cheaper(*same, variant) == &variant) {
      kept.erase(std::next(same).base());
      kept.push_back(std::move(variant));
    }
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

void plan_gemm(Plan& plan, const Gemm& gemm, Facts& facts, const Target& target) {
  const auto needed = open_conditions(facts, bounds_of_joined(*plan.kernel, gemm));
  if (!needed && (gemm.form.has_views() || !gemm.form.further.empty())) return;
  if (!needed) return plan_scalar(plan, "more than 2^31 rows, columns or products", target);
  // Schedules, names of operands and launches are then of the kernel with its indices joined.
  const sema::KernelPtr rewritten = gemm.kernel == plan.kernel ? nullptr : gemm.kernel;
  Plan made{gemm.kernel, {}, {}};
  add_gemm_variants(made, gemm.form, facts, target);
  // Scales, views and several products take a ring of tensor cores: what takes the other sizes is
  // added behind (plan_scaled, plan_viewed, plan_fused).
  const bool is_whole =
      gemm.form.scales.empty() && !gemm.form.has_views() && gemm.form.further.empty();
  if (made.problems.empty() && !is_complete(made) && is_whole)
    made.variants.push_back(scalar_variant(gemm.kernel, "no schedule takes all sizes", target));
  plan.problems = std::move(made.problems);
  plan.notes = std::move(made.notes);
  for (Variant& variant : made.variants) {
    if (!variant.kernel) variant.kernel = rewritten;
    variant.rewritten = rewritten;
    variant.when.insert(variant.when.end(), needed->begin(), needed->end());
    plan.variants.push_back(std::move(variant));
  }
  if (plan.problems.empty() && !needed->empty() && is_whole)
    plan.variants.push_back(
        scalar_variant(plan.kernel, "more than 2^31 rows, columns or products", target));
}

// Kernels that are not one product: several launches, else tiles of rows, else one thread an
// element. `reason` says why it is no product.
void plan_launches(Plan& plan, const std::string& reason, Facts& facts, const Target& target) {
  if (add_launch_sequences(plan, facts, target)) {
    if (plan.problems.empty() && !is_complete(plan))
      plan.variants.push_back(scalar_variant(plan.kernel, "more than 16 GiB of workspace", target));
    return;
  }
  if (const auto no_tiles = add_tile_variants(plan, facts, target)) {
    if (!add_staged_variants(plan, facts, target))
      return plan_scalar(plan, reason + ", and " + *no_tiles, target);
    refuse_schedules(plan, "`" + plan.kernel->name + "` runs in several launches, for " + *no_tiles,
                     "a kernel for each launch takes a schedule");
  }
  if (plan.problems.empty() && !is_complete(plan))
    plan.variants.push_back(scalar_variant(plan.kernel, "more than 2^31 rows or columns", target));
}

// The kernel with those of its schedules of which keeps(schedule) holds; the kernel itself where it
// has no schedules.
template <class Keeps>
sema::KernelPtr with_schedules(const sema::KernelPtr& kernel, Keeps keeps) {
  if (kernel->schedules.empty()) return kernel;
  sema::Kernel made = *kernel;
  std::erase_if(made.schedules, [&](const sema::Schedule& each) { return !keeps(each); });
  return std::make_shared<const sema::Kernel>(std::move(made));
}

// Adds what another plan of the kernel has, behind the variants of this one.
void append(Plan& plan, Plan more) {
  plan.problems = std::move(more.problems);
  plan.notes.insert(plan.notes.end(), more.notes.begin(), more.notes.end());
  keep_apart(plan.variants, more.variants);
  std::move(more.variants.begin(), more.variants.end(), std::back_inserter(plan.variants));
}

// Variants stand in the order of the script's schedules; those of no schedule stay behind, as they
// are.
void sort_by_schedule(Plan& plan) {
  const auto place = [&](const Variant& variant) {
    const auto& all = plan.kernel->schedules;
    return std::find_if(
               all.begin(), all.end(),
               [&](const sema::Schedule& each) { return each.where == variant.schedule; }) -
           all.begin();
  };
  std::stable_sort(plan.variants.begin(), plan.variants.end(),
                   [&](const Variant& a, const Variant& b) { return place(a) < place(b); });
}

// A product of plain operands: in one launch, and where an output's neighbours lie in no tile, for
// sizes where that moves less, in two. A script's schedules are of one launch without a word.
void plan_product(Plan& plan, const Gemm& gemm, Facts& facts, const Target& target) {
  const auto permuted = permuted_outputs(plan.kernel, gemm, facts, target);
  if (!permuted) return plan_gemm(plan, gemm, facts, target);
  add_permuted_outputs(plan, *permuted, facts, target);
  if (!plan.problems.empty()) return;
  const auto in_one = [&](const sema::Schedule& each) { return !permutes_outputs(each, target); };
  // Schedules behind are never taken then, but their mistakes are reported.
  const auto& said = plan.kernel->schedules;
  if (is_complete(plan) && std::none_of(said.begin(), said.end(), in_one)) return;
  const bool is_same = gemm.kernel == plan.kernel;
  Plan direct{with_schedules(plan.kernel, in_one), {}, {}};
  plan_gemm(direct, {is_same ? direct.kernel : with_schedules(gemm.kernel, in_one), gemm.form},
            facts, target);
  append(plan, std::move(direct));
  sort_by_schedule(plan);
}

// A product with scales: on tensor cores that add up sums in parts, and behind that, for sizes and
// pointers that those do not take, as launches that compute the scaled factors. A schedule goes to
// the first or to the last product of the second, by the GPUs that it is for.
void plan_scaled(Plan& plan, const Gemm& gemm, Facts& facts, const Target& target) {
  const bool is_same = gemm.kernel == plan.kernel;
  const auto for_scales = [](const sema::Schedule& each) { return takes_scales(each.target); };
  Plan scaled{with_schedules(plan.kernel, for_scales), {}, {}};
  plan_gemm(scaled, {is_same ? scaled.kernel : with_schedules(gemm.kernel, for_scales), gemm.form},
            facts, target);
  append(plan, std::move(scaled));
  if (!plan.problems.empty()) return;
  // Schedules behind may never be taken, but their mistakes are reported.
  const auto& said = plan.kernel->schedules;
  if (is_complete(plan) && std::all_of(said.begin(), said.end(), for_scales)) return;
  Plan rest{with_schedules(plan.kernel, std::not_fn(for_scales)), {}, {}};
  plan_launches(rest, "its product has factors that are constant in groups", facts, target);
  append(plan, std::move(rest));
}

// A product whose rows lie in segments: on tensor cores that take a segment's rows in tiles of
// their own, and behind that, for sizes and pointers that those do not take, as any other kernel.
// Schedules for these tensor cores are of the first. Returns whether there are any variants of it.
bool plan_grouped(Plan& plan, const std::string& reason, Facts& facts, const Target& target) {
  const auto for_segments = [](const sema::Schedule& each) { return takes_segments(each.target); };
  Plan grouped{with_schedules(plan.kernel, for_segments), {}, {}};
  if (!add_grouped_variants(grouped, facts, target)) return false;
  append(plan, std::move(grouped));
  if (!plan.problems.empty() || is_complete(plan)) return true;
  Plan rest{with_schedules(plan.kernel, std::not_fn(for_segments)), {}, {}};
  plan_launches(rest, reason, facts, target);
  append(plan, std::move(rest));
  return true;
}

// Returns true if a schedule is for operands that are read where they lie, or for products that
// are one launch.
bool reads_in_place(const sema::Schedule& schedule) {
  const auto stores = [](const sema::ScheduleEntry& entry) {
    const auto* text = std::get_if<std::string>(&entry.value);
    return entry.key == "operands" && text && *text == "\"stored\"";
  };
  return takes_views(schedule.target) &&
         std::none_of(schedule.entries.begin(), schedule.entries.end(), stores);
}

// Adds the kernel as launches that store operands and products, behind variants that read operands
// in place: for sizes and pointers that those do not take, and for schedules that say so.
void add_stored(Plan& plan, const std::string& reason, Facts& facts, const Target& target) {
  if (!plan.problems.empty()) return;
  const auto& said = plan.kernel->schedules;
  if (is_complete(plan) && std::all_of(said.begin(), said.end(), reads_in_place)) return;
  sema::Kernel stored = *with_schedules(plan.kernel, std::not_fn(reads_in_place));
  for (sema::Schedule& schedule : stored.schedules)
    std::erase_if(schedule.entries, [](const auto& entry) { return entry.key == "operands"; });
  Plan rest{std::make_shared<const sema::Kernel>(std::move(stored)), {}, {}};
  plan_launches(rest, reason, facts, target);
  for (Variant& variant : rest.variants) variant.stores_operands = is_sm90(variant);
  append(plan, std::move(rest));
  // Both kinds of schedules stand in one script, and are tried in its order.
  sort_by_schedule(plan);
}

// A product whose operands lie in memory by views: on tensor cores that take tensors as they lie,
// and behind that, for sizes and pointers that those do not take, as any other kernel. Schedules
// for these tensor cores are of the first, unless they say that operands are stored. Returns
// whether there are any variants of it.
bool plan_viewed(Plan& plan, const std::string& reason, Facts& facts, const Target& target) {
  const auto gemm = recognise_viewed(plan.kernel, facts);
  if (!gemm) return false;
  Plan viewed{with_schedules(plan.kernel, reads_in_place), {}, {}};
  plan_gemm(viewed, {with_schedules(gemm->kernel, reads_in_place), gemm->form}, facts, target);
  // A policy may ask for what no K tile has: (9*C) % 64 != 0 where C % 64 == 0, which stands last.
  std::erase_if(viewed.variants, [&](const Variant& variant) {
    return never_holds(facts, {variant.when.rbegin(), variant.when.rend()});
  });
  if (viewed.variants.empty() && viewed.problems.empty()) return false;
  append(plan, std::move(viewed));
  add_stored(plan, reason, facts, target);
  return true;
}

// Products that share an operand: in one launch on tensor cores that keep all sums in registers,
// and behind that, for sizes and pointers that it does not take, in one launch each. Schedules for
// these tensor cores are of the first, unless they say that operands are stored. Returns whether
// there are any variants of it.
bool plan_fused(Plan& plan, const std::string& reason, Facts& facts, const Target& target) {
  const auto found = recognise_fused(plan.kernel, facts);
  const auto* gemm = std::get_if<Gemm>(&found);
  if (!gemm) return false;
  Plan fused{with_schedules(plan.kernel, reads_in_place), {}, {}};
  plan_gemm(fused, {with_schedules(gemm->kernel, reads_in_place), gemm->form}, facts, target);
  if (fused.variants.empty() && fused.problems.empty()) return false;
  append(plan, std::move(fused));
  add_stored(plan, reason, facts, target);
  return true;
}

// A kernel that is no product: where it is a product of a product, in one launch on Hopper, and
// behind that, for sizes and pointers that it does not take, in several. Schedules with a tile of
// rows and columns are of the first.
void plan_others(Plan& plan, const std::string& reason, Facts& facts, const Target& target) {
  if (plan_viewed(plan, reason, facts, target) || plan_grouped(plan, reason, facts, target) ||
      plan_fused(plan, reason, facts, target))
    return;
  if (add_chained_variants(plan, facts, target)) return plan_launches(plan, reason, facts, target);
  if (!plan.problems.empty() || is_complete(plan)) return;
  Plan rest{with_schedules(plan.kernel, std::not_fn(is_for_chained_products)), {}, {}};
  plan_launches(rest, reason, facts, target);
  append(plan, std::move(rest));
}

void plan_kernel(Plan& plan, const Target& target) {
  check_support(*plan.kernel, plan.problems);
  check_names(plan);
  if (!plan.problems.empty()) return;
  Facts facts = facts_of(*plan.kernel);
  auto form = recognise_scaled(plan.kernel, facts);
  // Four families: a product of two factors (GEMM), no reduction at all (permute, or tiles of an
  // elementwise map), several products (launches), rows that are reduced (tile programs). Any other
  // kernel runs one thread an element.
  if (const auto* no = std::get_if<NotGemm>(&form)) {
    const auto change = recognise_permute(*plan.kernel, facts);
    const auto* found = std::get_if<PermuteForm>(&change);
    if (found && !(plan.kernel->schedules.empty() && has_tiles(*plan.kernel, facts)))
      return add_permute_variants(plan, *found, facts, target);
    return plan_others(plan, no->reason, facts, target);
  }
  if (std::any_of(plan.kernel->tensors.begin(), plan.kernel->tensors.end(),
                  [](const sema::Tensor& each) { return each.is_swizzled(); }))
    return plan_scalar(plan, "a tensor is swizzled in global memory", target);
  const Gemm& gemm = std::get<Gemm>(form);
  if (gemm.form.scales.empty()) return plan_product(plan, gemm, facts, target);
  plan_scaled(plan, gemm, facts, target);
}

// The plan; its portfolios have the numbers that `number` gives them.
Plan make(sema::KernelPtr kernel, const Target& target,
          const std::function<void(std::vector<Variant>&)>& number) {
  Plan plan{std::move(kernel), {}, {}};
  try {
    plan_kernel(plan, target);
    number(plan.variants);
    const Facts known = facts_of(*plan.kernel);
    std::erase_if(plan.variants, [&](Variant& variant) { return !settle(known, variant); });
    drop_unreached(plan.variants);
    make_names_unique(plan.variants);
  } catch (const Refusal& refusal) {
    plan.problems.push_back(problem_of(refusal, plan.kernel->where));
  }
  if (!plan.problems.empty()) plan.variants.clear();
  return plan;
}

}  // namespace

bool settle(const Facts& known, Variant& variant) {
  // Conditions of several sources may exclude each other: K % 8 == 0 of TMA and a schedule's K < 8.
  const tile::Program* program = scheduled_program(variant);
  const bool is_tiled = program && !program->is_elementwise() && !program->is_product();
  if (is_tiled ? never_holds(known, variant.when) : contradicts(known, variant.when)) return false;
  auto when = as_read_back(known, variant.when);
  if (!when) return false;
  variant.when = std::move(*when);
  if (variant.cost) variant.cost->value = known.simplify(variant.cost->value);
  return true;
}

std::vector<Predicate> bounds_of_joined(const sema::Kernel& kernel, const Gemm& gemm) {
  constexpr std::int64_t most = (std::int64_t{1} << 31) - (std::int64_t{1} << 21);
  std::vector<Predicate> needed;
  const auto is_kernels = [&](const sema::Index& index) {
    return std::any_of(kernel.indices.begin(), kernel.indices.end(),
                       [&](const sema::Index& known) { return known.extent == index.extent; });
  };
  for (const sema::Index& index : gemm.kernel->indices)
    if (!index.extent.dim_id() && !is_kernels(index))
      needed.push_back(less_equal(index.extent, most));
  return needed;
}

Facts facts_of(const sema::Kernel& kernel) {
  Facts facts;
  for (const Guard& guard : kernel.guards)
    facts.assume(either(negate(guard.path), guard.predicate));
  return facts;
}

Plan make_plan(sema::KernelPtr kernel, const Target& target, Searched searched) {
  Plan plan = make(std::move(kernel), target, number_portfolios);
  if (searched == Searched::nothing) return plan;
  const std::size_t rows = plan.variants.size();
  const std::size_t dims = plan.kernel->dims.size();
  if (dims == 0) add_for_sizes(plan, {}, target);
  std::set<GivenSizes> known;
  for (const sema::StatedSizes& stated : plan.kernel->stated_sizes)
    if (given_dims(*plan.kernel, stated.sizes) == dims && known.insert(stated.sizes).second)
      add_for_stated(plan, stated.sizes, target);
  if (plan.variants.size() > rows) drop_unreached(plan.variants);
  return plan;
}

Plan make_last_plan(sema::KernelPtr kernel, const Target& target) {
  return make(std::move(kernel), target, part_portfolios);
}

}  // namespace lay::plan
