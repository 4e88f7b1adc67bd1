#include "backend/plan/launches/launch_sequence.h"

#include <algorithm>

#include "backend/plan/conditions.h"
#include "backend/plan/launches/split_products.h"
#include "backend/plan/launches/workspace_kernel.h"
#include "backend/plan/make.h"
#include "backend/plan/schedule/fitting.h"

namespace lay::plan {

namespace {

// Moves what the plan's launches have in workspace behind the tensors of the sequence, which they
// find there.
void place_in_workspace(Plan& plan, const SplitProducts& split) {
  const Int begin = aligned_up(split.workspace);
  const auto is_ours = [&](const std::string& name) {
    return std::any_of(split.tensors.begin(), split.tensors.end(),
                       [&](const WorkspaceTensor& tensor) { return tensor.name == name; });
  };
  for (Variant& variant : plan.variants) {
    for (auto& before : variant.before) {
      Plan moved = *before;
      place_in_workspace(moved, split);
      before = std::make_shared<Plan>(std::move(moved));
    }
    for (WorkspaceTensor& tensor : variant.workspace_tensors) tensor.offset += begin;
    variant.workspace_tensors.insert(variant.workspace_tensors.end(), split.tensors.begin(),
                                     split.tensors.end());
    variant.workspace += begin;
    // Workspace is aligned to more than any access asks for.
    std::erase_if(variant.aligned, [&](const Alignment& aligned) {
      return is_ours(plan.kernel->tensor(aligned.tensor).name);
    });
  }
}

}  // namespace

Variant at_sizes(const Variant& variant, const Binding& sizes) {
  Variant made = variant;
  made.before.clear();
  for (const auto& plan : variant.before) {
    // A plan of one variant takes all sizes that the variant behind it does. It may have launches
    // before it too, such as a repack of its operands.
    const bool only = plan->variants.size() == 1;
    Variant chosen = at_sizes(only ? plan->variants[0] : chosen_variant(*plan, sizes), sizes);
    // Launches run one after the other: each may use all of the workspace behind what they share.
    const auto most = chosen.workspace.evaluate(sizes), known = made.workspace.evaluate(sizes);
    if (most && known && *most > *known) made.workspace = *most;
    made.before.insert(made.before.end(), chosen.before.begin(), chosen.before.end());
    chosen.before.clear();
    Plan one{plan->kernel, {std::move(chosen)}, {}, {}};
    made.before.push_back(std::make_shared<Plan>(std::move(one)));
  }
  return made;
}

bool add_launch_sequences(Plan& plan, const Facts& facts, const Target& target) {
  const auto split = split_products(plan.kernel, facts);
  return split &&
         add_sequence(
             plan, *split, [&] { return make_last_plan(split->last, target); }, facts, target);
}

bool add_sequence(Plan& plan, const SplitProducts& split, const std::function<Plan()>& plan_last,
                  const Facts& facts, const Target& target) {
  const auto fits_memory = open_conditions(facts, {less_equal(split.stored, most_workspace)});
  if (!fits_memory) return false;
  // A launch that cannot be planned leaves the kernel to one thread an element, with its reason.
  // All variants of the last launch share the plans before it.
  std::vector<std::shared_ptr<const Plan>> before;
  for (const sema::KernelPtr& kernel : split.first) {
    Plan one = make_plan(kernel, target);
    // Only a schedule's problems are the user's.
    if (!one.problems.empty() && !kernel->schedules.empty()) plan.problems = one.problems;
    if (!one.problems.empty()) return false;
    place_in_workspace(one, split);
    for (Variant& variant : one.variants) variant.is_stage = true;
    before.push_back(std::make_shared<Plan>(std::move(one)));
  }
  // Schedules of the script are those of the last product: the kernel keeps its name.
  Plan last = plan_last();
  plan.problems = std::move(last.problems);
  plan.notes = std::move(last.notes);
  place_in_workspace(last, split);
  for (Variant& variant : last.variants) {
    if (!variant.kernel) variant.kernel = split.last;
    if (!variant.rewritten) variant.rewritten = split.last;
    variant.before.insert(variant.before.begin(), before.begin(), before.end());
    for (const Predicate& condition : *fits_memory)
      if (std::find(variant.when.begin(), variant.when.end(), condition) == variant.when.end())
        variant.when.push_back(condition);
    plan.variants.push_back(std::move(variant));
  }
  return true;
}

}  // namespace lay::plan
