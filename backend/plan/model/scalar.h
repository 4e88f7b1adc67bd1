// The work of a kernel with one thread an element: it follows the kernel's expression literally, so
// that a sum inside a sum is computed anew for every step of the outer one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::plan {

struct ScalarWork {
  // Floating-point operations, two for each step of a sum: of the loops as they run, and of a
  // kernel that computes each sum once for the indices that it depends on.
  Int flops = 0, least_flops = 0;
  // Of the least: those of sums of products of two elements of a type, by that type, as tensor
  // cores compute them.
  std::map<ElementType, Int> product_flops;
  // Bytes that loads ask for. A load whose address is the same for a whole warp counts once a warp.
  Int loaded_bytes = 0;
};

// Counts the loops of the kernel's assignments; nodes that they share are evaluated once a scope.
ScalarWork scalar_work(const sema::Kernel& kernel);

// Returns by how much a kernel that runs one thread an element is slower than its operations and
// its bytes allow on the target, with dims of these sizes (sema::sizes_by_dim); nothing where the
// guards refuse them or the kernel has another plan. The estimate: a launch, and the loops'
// operations and loads at the machine's rates on the share of its threads that the outputs occupy,
// against a launch with each sum computed once, by tensor cores where they have its products, and
// each byte moved once.
std::optional<double> scalar_slowdown(const Plan& plan, const Target& target,
                                      const std::map<std::string, std::int64_t>& sizes);

// Sizes at which the kernel is slowest by that estimate.
struct Slowdown {
  double factor = 1;
  // The size of every dim that is not in `small`.
  std::int64_t size = 0;
  // A dim that is shorter than the others, such as a number of experts or heads, and its size.
  std::optional<std::pair<std::string, std::int64_t>> small;
};

// Asks at sizes that users bring: all dims equal, and each dim in turn short. Of equal factors the
// first stands.
std::optional<Slowdown> worst_scalar_slowdown(const Plan& plan, const Target& target);

}  // namespace lay::plan
