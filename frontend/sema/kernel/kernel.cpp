#include "frontend/sema/kernel/kernel.h"

namespace lay::sema {

std::set<IndexId> free_indices(const Node& node,
                               const std::vector<std::set<IndexId>>& of_operands) {
  std::set<IndexId> free;
  const auto join = [&](const std::vector<NodeId>& operands) {
    for (const NodeId operand : operands) {
      const std::set<IndexId>& inner = of_operands[static_cast<std::size_t>(operand)];
      free.insert(inner.begin(), inner.end());
    }
  };
  if (const auto* index = std::get_if<IndexValue>(&node.what)) free.insert(index->index);
  if (const auto* load = std::get_if<Load>(&node.what)) join(load->coordinate);
  if (const auto* apply = std::get_if<Apply>(&node.what)) join(apply->operands);
  if (const auto* reduce = std::get_if<Reduce>(&node.what)) {
    join({reduce->body});
    for (const IndexId index : reduce->indices) free.erase(index);
  }
  return free;
}

std::vector<std::set<IndexId>> free_indices(const Kernel& kernel) {
  std::vector<std::set<IndexId>> free;  // operands have smaller ids
  for (const Node& node : kernel.nodes) free.push_back(free_indices(node, free));
  return free;
}

}  // namespace lay::sema
