#include "backend/tile/reciprocals.h"

#include <algorithm>

#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

using namespace sema;

Kernel multiply_by_reciprocals(const Kernel& kernel, const std::vector<IndexId>& columns) {
  for (const Assignment& assignment : kernel.assignments)
    if (!is_float(kernel.tensor(assignment.target).element) ||
        bits(kernel.tensor(assignment.target).element) > 16)
      return kernel;
  const auto free = free_indices(kernel);
  const auto on_column = [&](NodeId id) {
    return std::any_of(columns.begin(), columns.end(), [&](IndexId index) {
      return free[static_cast<std::size_t>(id)].contains(index);
    });
  };
  std::vector<NodeId> bodies;
  for (const Node& node : kernel.nodes)
    if (const auto* reduce = std::get_if<sema::Reduce>(&node.what)) bodies.push_back(reduce->body);
  const auto reduced = reachable(kernel, bodies);
  std::vector<Node> nodes;
  std::vector<NodeId> now(kernel.nodes.size(), -1);
  const auto add = [&](Node node) {
    nodes.push_back(std::move(node));
    return static_cast<NodeId>(nodes.size()) - 1;
  };
  for (std::size_t id = 0; id < kernel.nodes.size(); ++id) {
    Node node = remapped(kernel.nodes[id], now);
    if (auto* apply = std::get_if<Apply>(&node.what)) {
      const NodeId divided_by = operands(kernel.nodes[id]).back();
      const bool once = apply->function == ElementFunction::div && !reduced[id] &&
                        node.type == ElementType::f32 && on_column(static_cast<NodeId>(id)) &&
                        !on_column(divided_by);
      if (once) {
        const auto literal = [&](double value) {
          return add({Literal{value}, node.type, node.where});
        };
        const auto applied = [&](ElementFunction function, std::vector<NodeId> to,
                                 ElementType type) {
          return add({Apply{function, std::move(to)}, type, node.where});
        };
        using enum ElementFunction;
        const NodeId divisor = apply->operands[1], one = literal(1.0);
        const NodeId size = applied(abs, {divisor}, node.type), normal = literal(0x1p-126);
        const NodeId tiny = applied(lt, {size, normal}, ElementType::pred);
        const NodeId up = literal(0x1p64);
        const NodeId scale = applied(select, {tiny, up, one}, node.type);
        const NodeId scaled = applied(mul, {divisor, scale}, node.type);
        const NodeId reciprocal = applied(div, {one, scaled}, node.type);
        const NodeId product = applied(mul, {apply->operands[0], reciprocal}, node.type);
        apply->function = mul;
        apply->operands = {product, scale};
      }
    }
    now[id] = add(std::move(node));
  }
  Kernel made = kernel;
  made.nodes = std::move(nodes);
  for (Assignment& assignment : made.assignments)
    assignment.value = now[static_cast<std::size_t>(assignment.value)];
  return made;
}

}  // namespace lay::tile
