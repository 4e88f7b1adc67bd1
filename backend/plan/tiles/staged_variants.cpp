#include "backend/plan/tiles/staged_variants.h"

#include <algorithm>
#include <set>

#include "backend/plan/conditions.h"
#include "backend/plan/launches/workspace_kernel.h"
#include "backend/plan/make.h"
#include "backend/plan/tiles/stages.h"

namespace lay::plan {

namespace {

void add_condition(std::vector<Predicate>& when, const Predicate& condition) {
  if (std::find(when.begin(), when.end(), condition) == when.end()) when.push_back(condition);
}

class StagePlanner {
 public:
  StagePlanner(Plan& plan, const Facts& facts, Stages stages, const Target& target)
      : plan_(plan), facts_(facts), stages_(std::move(stages)) {
    for (const sema::KernelPtr& kernel : stages_.kernels)
      plans_.push_back(make_plan(kernel, target));
  }

  bool run() {
    for (const Plan& stage : plans_)
      if (!stage.problems.empty() || stage.variants.empty()) return false;
    for (const Variant& first : plans_.front().variants) {
      Facts known = facts_;
      if (!std::all_of(first.when.begin(), first.when.end(),
                       [&](const Predicate& condition) { return known.suppose(condition); }))
        continue;
      // Wide accesses in all stages, then single elements in the later ones.
      for (const bool wide : {true, false}) {
        std::vector<const Variant*> chosen{&first};
        for (std::size_t i = 1; i < plans_.size(); ++i)
          chosen.push_back(choose(plans_[i], known, wide && !reads_elements(plans_[0], first)));
        const bool complete =
            std::all_of(chosen.begin(), chosen.end(), [](const Variant* each) { return each; });
        if (complete) add(chosen, first.name + (wide ? "" : "_single"));
      }
    }
    return !plan_.variants.empty();
  }

 private:
  // Returns true if the variant needs no alignment of a caller's tensor.
  bool reads_elements(const Plan& stage, const Variant& variant) const {
    return std::all_of(variant.aligned.begin(), variant.aligned.end(),
                       [&](const Alignment& each) { return caller_tensor(stage, each) < 0; });
  }

  // Returns the first variant of the stage that is right under what is known. With `wide` sizes may
  // also have to be multiples, and tensors aligned.
  const Variant* choose(const Plan& stage, const Facts& known, bool wide) const {
    for (const Variant& variant : stage.variants) {
      const auto fits = [&](const Predicate& condition) {
        return known.proves(condition) || (wide && condition.kind() == PredicateKind::divides &&
                                           !known.proves(negate(condition)));
      };
      if (std::all_of(variant.when.begin(), variant.when.end(), fits) &&
          (wide || reads_elements(stage, variant)))
        return &variant;
    }
    return wide ? choose(stage, known, false) : nullptr;
  }

  // The tensor of the plan's kernel by the name of the stage's; -1 for one in workspace.
  sema::TensorId caller_tensor(const Plan& stage, const Alignment& aligned) const {
    const auto& tensors = plan_.kernel->tensors;
    const std::string& name = stage.kernel->tensor(aligned.tensor).name;
    const auto found =
        std::find_if(tensors.begin(), tensors.end(),
                     [&](const sema::Tensor& tensor) { return tensor.name == name; });
    return found == tensors.end() ? -1 : static_cast<sema::TensorId>(found - tensors.begin());
  }

  void add(const std::vector<const Variant*>& chosen, const std::string& name) {
    std::vector<Predicate> when;
    std::vector<Alignment> aligned;
    Int workspace = aligned_up(stages_.workspace);
    std::vector<Plan> launches;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const Variant& stage = *chosen[i];
      for (const Predicate& condition : stage.when) add_condition(when, condition);
      for (const Alignment& each : stage.aligned)
        if (const auto tensor = caller_tensor(plans_[i], each); tensor >= 0)
          add_alignment(aligned, {tensor, each.bytes});
      for (const auto& before : stage.before)
        launches.push_back(launch(before->kernel, before->variants.at(0), workspace));
      const sema::KernelPtr kernel = stage.kernel ? stage.kernel : plans_[i].kernel;
      launches.push_back(launch(kernel, stage, workspace));
      workspace = aligned_up(workspace + stage.workspace);
    }
    const bool known = std::any_of(
        plan_.variants.begin(), plan_.variants.end(),
        [&](const Variant& other) { return other.when == when && other.aligned == aligned; });
    if (known) return;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      Variant& each = launches[i].variants.front();
      const bool last = i + 1 == launches.size();
      each.name = last ? name : name + "_" + std::to_string(i + 1);
      each.workspace = workspace;
      if (!last) each.when = when;
    }
    Variant made = std::move(launches.back().variants.front());
    made.kernel = launches.back().kernel;
    launches.pop_back();
    made.when = std::move(when);
    made.aligned = std::move(aligned);
    for (Plan& launch : launches) made.before.push_back(std::make_shared<Plan>(std::move(launch)));
    plan_.variants.push_back(std::move(made));
  }

  static void add_alignment(std::vector<Alignment>& aligned, const Alignment& more) {
    for (Alignment& each : aligned) {
      if (each.tensor != more.tensor) continue;
      each.bytes = std::max(each.bytes, more.bytes);
      return;
    }
    aligned.push_back(more);
  }

  // Returns one launch of a stage's variant. Values that the stage's launches leave to one another
  // lie from byte `first` of the workspace on.
  Plan launch(const sema::KernelPtr& kernel, const Variant& variant, const Int& first) const {
    Variant made = variant;
    made.cost.reset();  // of a stage alone
    made.before.clear();
    made.kernel = nullptr;
    made.is_stage = true;
    for (WorkspaceTensor& each : made.workspace_tensors) each.offset = first + each.offset;
    made.workspace_tensors.insert(made.workspace_tensors.end(), stages_.tensors.begin(),
                                  stages_.tensors.end());
    return {kernel, {std::move(made)}, {}};
  }

  Plan& plan_;
  const Facts& facts_;
  Stages stages_;
  std::vector<Plan> plans_;
};

}  // namespace

bool add_staged_variants(Plan& plan, const Facts& facts, const Target& target) {
  auto stages = split_stages(*plan.kernel, facts);
  return stages && StagePlanner(plan, facts, std::move(*stages), target).run();
}

}  // namespace lay::plan
