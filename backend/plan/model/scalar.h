// The work of a kernel with one thread an element: it follows the kernel's expression literally, so
// that a sum inside a sum is computed anew for every step of the outer one.
#pragma once

#include <optional>

#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::plan {

struct ScalarWork {
  // Floating-point operations, two for each step of a sum: of the loops as they run, and of a
  // kernel that computes each sum once for the indices that it depends on.
  Int flops = 0, least_flops = 0;
  // Bytes that loads ask for. A load whose address is the same for a whole warp counts once a warp.
  Int loaded_bytes = 0;
};

// Counts the loops of the kernel's assignments; nodes that they share are evaluated once a scope.
ScalarWork scalar_work(const sema::Kernel& kernel);

// Returns by how much a kernel that runs one thread an element is slower than its operations and
// its bytes allow on the target, with every dim at `size`; nothing where the guards refuse that
// size or the kernel has another plan. The estimate: the loops' operations and loads at the
// machine's rates, on the share of its threads that the outputs occupy, against each sum computed
// once and each byte moved once.
std::optional<double> scalar_slowdown(const Plan& plan, const Target& target, std::int64_t size);

}  // namespace lay::plan
