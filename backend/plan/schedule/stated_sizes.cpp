#include "backend/plan/schedule/stated_sizes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/plan/conditions.h"
#include "backend/plan/gemm_variants.h"
#include "backend/plan/make.h"
#include "backend/plan/operand_repack.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/schedule/library_rows.h"

namespace lay::plan {
namespace {

constexpr int most_tried = 24;  // of the cheapest, until one keeps the planner's laws

// The factors that the variant copies first; nothing where its launches before do anything else.
std::optional<CopiedFactors> copied_factors(const Variant& variant, const Gemm& gemm) {
  CopiedFactors made;
  if (variant.before.empty()) return made;
  const Plan& before = *variant.before.front();
  if (variant.before.size() > 1 || !before.variants.front().copies) return std::nullopt;
  for (const sema::Assignment& each : before.kernel->assignments) {
    const std::string& name = before.kernel->loaded(each.value).name;
    made.a = made.a || name == gemm.kernel->loaded(gemm.form.a).name;
    made.b = made.b || name == gemm.kernel->loaded(gemm.form.b).name;
  }
  return made;
}

// The cheapest schedule of the space that costs less than `taken` and takes the sizes, with its
// accesses and on copies of the same factors. The space is asked with numbers: its candidates come
// by rising cost, and the first one that keeps the planner's laws is planned as a row for any
// sizes, whose cost is an expression again.
std::optional<Variant> cheapest(const Plan& plan, const Gemm& gemm, const std::string& family,
                                const Variant& taken, const Binding& sizes, const Target& target) {
  const auto copied = copied_factors(taken, gemm);
  const auto most = taken.cost->value.evaluate(sizes);
  Facts facts = facts_of(*plan.kernel);
  const auto bounds = open_conditions(facts, bounds_of_joined(*plan.kernel, gemm));
  if (!copied || !most || !bounds) return std::nullopt;
  const auto size = sized(size_on_copies(*gemm.kernel, gemm.form, facts, *copied, target), sizes);
  if (!size) return std::nullopt;
  sema::ProductKind kind = product_kind(*gemm.kernel, gemm.form, facts, false, target);
  // An element that is stored alone asks whether it is inside, beside its sum: tiles that leave
  // registers for sums and nothing else spill.
  if (taken.accesses == Width::elements) kind.arithmetic += 1;
  int tried = 0;
  for (const sema::SpaceRow& row : sema::library_space(family, kind, *size)) {
    // Rising costs: behind the first that is too dear all are.
    if (row.cost >= *most || tried++ == most_tried) break;
    const auto policy = sema::space_policy(family, kind, row);
    if (!policy) continue;
    // The library's laws know most of the planner's, but not all: what an output's alignment takes,
    // or registers beside an epilogue's inputs.
    auto made = row_variant(gemm.kernel, gemm.form, facts, target, family, *policy, &taken);
    if (!made || !made->cost) continue;
    // From here on as make_plan leaves the library's own rows.
    made->when.insert(made->when.end(), bounds->begin(), bounds->end());
    if (!settle(facts, *made) || !fits(*made, sizes)) continue;
    made->cost->portfolio = taken.cost->portfolio;
    if (gemm.kernel == plan.kernel) return made;
    made->rewritten = gemm.kernel;
    if (!made->kernel) made->kernel = gemm.kernel;
    return made;
  }
  return std::nullopt;
}

}  // namespace

void add_for_sizes(Plan& plan, const Binding& sizes, const Target& target) {
  if (!plan.problems.empty()) return;
  // A script's schedules and rows that were tuned come before the portfolio: where one of them
  // takes the sizes, nothing is searched.
  const auto fitting = fitting_variants(plan, sizes);
  if (fitting.empty()) return;
  const Variant& first = *fitting.front();
  const auto family = product_family(first);
  if (!family || !first.of_library || !first.cost) return;
  // Scales, segments and views have rows of their own, which no cost was fitted to.
  const auto found = recognise_scaled(plan.kernel, facts_of(*plan.kernel));
  const auto* gemm = std::get_if<Gemm>(&found);
  if (!gemm || !gemm->form.scales.empty() || gemm->form.segments || gemm->form.has_views()) return;
  auto made = cheapest(plan, *gemm, *family, first, sizes, target);
  if (!made) return;
  // Where the library has the same tile as a row, that one costs less and was taken.
  const auto has_name = [&](const Variant& each) { return each.name == made->name; };
  if (std::any_of(plan.variants.begin(), plan.variants.end(), has_name)) return;
  // Beside the one that it is cheaper than, so that it stands in that portfolio.
  const auto taken = &first - plan.variants.data();
  plan.variants.insert(plan.variants.begin() + taken, std::move(*made));
}

void add_for_stated(Plan& plan, const GivenSizes& given, const Target& target) {
  constexpr int drawn = 12;  // as many variants as a build keeps
  for (const Binding& sizes : drawn_sizes(*plan.kernel, given, drawn))
    add_for_sizes(plan, sizes, target);
}

}  // namespace lay::plan
