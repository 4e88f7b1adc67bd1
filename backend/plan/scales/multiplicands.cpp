#include "backend/plan/scales/multiplicands.h"

#include <algorithm>

#include "backend/plan/launches/kernel_parts.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::plan {

using namespace sema;

const Reduce* accumulated_sum(const Kernel& kernel, NodeId id) {
  const Node& node = kernel.node(id);
  const auto* reduce = std::get_if<Reduce>(&node.what);
  const bool type = node.type == ElementType::f32 || node.type == ElementType::f64 ||
                    node.type == ElementType::s32;
  return reduce && reduce->function == ReduceFunction::sum && type ? reduce : nullptr;
}

std::optional<Kernel> with_factors_outside(const Kernel& kernel) {
  const auto live = reachable(kernel);
  const auto free = free_indices(kernel);
  for (std::size_t n = 0; n < kernel.nodes.size(); ++n) {
    const auto id = static_cast<NodeId>(n);
    const Reduce* sum = live[n] ? accumulated_sum(kernel, id) : nullptr;
    if (!sum) continue;
    const auto is_summed = [&](NodeId of) {
      return std::any_of(sum->indices.begin(), sum->indices.end(), [&](IndexId index) {
        return free[static_cast<std::size_t>(of)].contains(index);
      });
    };
    std::vector<NodeId> inside = multiplicands(kernel, sum->body);
    // Both groups keep the order in which they are written.
    const auto first_outside = std::stable_partition(inside.begin(), inside.end(), is_summed);
    const std::vector<NodeId> outside(first_outside, inside.end());
    inside.erase(first_outside, inside.end());
    if (outside.empty() || inside.size() < 2) continue;
    return rebuilt(kernel, {id}, [&](Rebuilding& to, NodeId, Node node) {
      // Integers of an exact product have no type of their own once they are apart from it.
      const auto as_summed = [&](NodeId of) {
        if (kernel.node(of).type == node.type) return to.now(of);
        return to.add({Apply{ElementFunction::cast, {to.now(of)}}, node.type, node.where});
      };
      const auto times = [&](NodeId a, NodeId b) {
        return to.add({Apply{ElementFunction::mul, {a, b}}, node.type, node.where});
      };
      NodeId body = as_summed(inside[0]);
      for (std::size_t i = 1; i < inside.size(); ++i) body = times(body, as_summed(inside[i]));
      std::get<Reduce>(node.what).body = body;
      NodeId made = to.add(node);
      for (const NodeId each : outside) made = times(as_summed(each), made);
      return made;
    });
  }
  return std::nullopt;
}

}  // namespace lay::plan
