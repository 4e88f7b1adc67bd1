// Variants that are several launches, each of which is a plan of its own (Variant::before).
#pragma once

#include <functional>

#include "backend/plan/launches/split_products.h"
#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::plan {

// The variant with the launches before it as they are at these sizes: plans of one variant each, of
// every plan the first one that takes the sizes, and what comes before that. `workspace` is then
// what these launches take. Sizes are the kernel's, and meet its guards.
Variant at_sizes(const Variant& variant, const Binding& sizes);

// Adds the variants of a kernel that split_products() splits: those of its last launch, each behind
// plans of the launches before. They hold where all that lies between fits `most_workspace`.
// Returns whether there are any.
bool add_launch_sequences(Plan& plan, const Facts& facts, const Target& target);

// The same of any kernels that leave tensors in workspace to one another, where `plan_last` plans
// the last one.
bool add_sequence(Plan& plan, const SplitProducts& split, const std::function<Plan()>& plan_last,
                  const Facts& facts, const Target& target);

inline constexpr std::int64_t most_workspace = std::int64_t{1} << 34;  // bytes

}  // namespace lay::plan
