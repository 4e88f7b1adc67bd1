#include "frontend/sema/kernel/kernel_walk.h"

#include <algorithm>

#include "frontend/algebra/support/overloaded.h"

namespace lay::sema {

std::vector<NodeId> operands(const Node& node) {
  return std::visit(overloaded{
                        [](const Literal&) { return std::vector<NodeId>{}; },
                        [](const IndexValue&) { return std::vector<NodeId>{}; },
                        [](const SizeValue&) { return std::vector<NodeId>{}; },
                        [](const ScalarValue&) { return std::vector<NodeId>{}; },
                        [](const Load& load) { return load.coordinate; },
                        [](const Reduce& sum) { return std::vector<NodeId>{sum.body}; },
                        [](const Apply& apply) { return apply.operands; },
                    },
                    node.what);
}

Node remapped(Node node, const std::vector<NodeId>& now) {
  const auto move = [&](NodeId& id) { id = now[id]; };
  std::visit(
      overloaded{
          [](Literal&) {},
          [](IndexValue&) {},
          [](SizeValue&) {},
          [](ScalarValue&) {},
          [&](Load& load) { std::for_each(load.coordinate.begin(), load.coordinate.end(), move); },
          [&](Reduce& reduce) { move(reduce.body); },
          [&](Apply& apply) { std::for_each(apply.operands.begin(), apply.operands.end(), move); },
      },
      node.what);
  return node;
}

std::vector<char> reachable_until(const Kernel& kernel, const std::vector<NodeId>& from,
                                  const std::function<bool(NodeId)>& ends) {
  std::vector<char> seen(kernel.nodes.size(), 0);
  for (const NodeId id : from) seen[id] = 1;
  for (auto id = static_cast<NodeId>(kernel.nodes.size()); id-- > 0;) {
    if (!seen[id] || ends(id)) continue;
    for (NodeId operand : operands(kernel.nodes[id])) seen[operand] = 1;
  }
  return seen;
}

std::vector<char> reachable(const Kernel& kernel, const std::vector<NodeId>& from) {
  return reachable_until(kernel, from, [](NodeId) { return false; });
}

std::vector<char> reachable(const Kernel& kernel) {
  std::vector<NodeId> values;
  for (const Assignment& assignment : kernel.assignments) values.push_back(assignment.value);
  return reachable(kernel, values);
}

std::set<IndexId> indices_of(const Kernel& kernel, NodeId value) {
  std::set<IndexId> found;
  const auto below = reachable(kernel, {value});
  for (std::size_t id = 0; id < below.size(); ++id) {
    const auto* index = std::get_if<IndexValue>(&kernel.nodes[id].what);
    if (below[id] && index) found.insert(index->index);
  }
  return found;
}

bool reads_memory(const Kernel& kernel, NodeId node) {
  return reads_memory(kernel, node, [](NodeId) { return false; });
}

bool reads_memory(const Kernel& kernel, NodeId node, const std::function<bool(NodeId)>& held) {
  const auto below = reachable_until(kernel, {node}, held);
  for (NodeId id = 0; id < static_cast<NodeId>(below.size()); ++id)
    if (below[id] && std::holds_alternative<Load>(kernel.nodes[id].what) && !held(id)) return true;
  return false;
}

NodeId without_casts(const Kernel& kernel, NodeId node) {
  const auto* apply = std::get_if<Apply>(&kernel.node(node).what);
  while (apply && apply->function == ElementFunction::cast) {
    node = apply->operands[0];
    apply = std::get_if<Apply>(&kernel.node(node).what);
  }
  return node;
}

IndexId bare_index(const Kernel& kernel, NodeId node) {
  const auto* value = std::get_if<IndexValue>(&kernel.nodes[node].what);
  return value ? value->index : -1;
}

}  // namespace lay::sema
