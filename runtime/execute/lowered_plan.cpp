#include "runtime/execute/lowered_plan.h"

#include <optional>
#include <utility>

#include "backend/plan/launches/launch_sequence.h"
#include "runtime/execute/stages.h"

namespace lay::runtime {

const Launches& LoweredPlan::at(const plan::Variant& variant, const Binding& sizes) {
  // Most variants are one launch, the same at all sizes.
  std::optional<plan::Variant> sized;
  if (!variant.before.empty()) sized = plan::at_sizes(variant, sizes);
  const plan::Variant& launched = sized ? *sized : variant;
  std::vector<std::string> names;
  for (const auto& before : launched.before)
    names.push_back(before->kernel->name + "." + before->variants[0].name);
  names.push_back(variant.name);
  auto found = lowered_.find(names);
  if (found == lowered_.end())
    found = lowered_.emplace(std::move(names), lowered(sources_, plan_, launched)).first;
  return found->second;
}

}  // namespace lay::runtime
