#include "backend/tile/rename_indices.h"

#include <bit>
#include <string>

#include "frontend/algebra/support/overloaded.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

using namespace sema;

namespace {

std::string list(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += std::to_string(number) + ",";
  return text;
}

// Two nodes of one key have one value. The key names operands by their ids.
std::string key_of(const Node& node) {
  const std::string text = std::visit(
      overloaded{
          [](const Literal& x) {
            const auto* integer = std::get_if<std::int64_t>(&x.value);
            return integer ? "i" + std::to_string(*integer)
                           : "r" + std::to_string(
                                       std::bit_cast<std::uint64_t>(std::get<double>(x.value)));
          },
          [](const IndexValue& x) { return std::to_string(x.index); },
          [](const SizeValue& x) { return x.value.to_string(); },
          [](const ScalarValue& x) { return std::to_string(x.scalar); },
          [](const Load& x) { return std::to_string(x.tensor) + ":" + list(x.coordinate); },
          [](const sema::Reduce& x) {
            return std::to_string(static_cast<int>(x.function)) + ":" + list(x.indices) + ":" +
                   std::to_string(x.body);
          },
          [](const Apply& x) {
            return std::to_string(static_cast<int>(x.function)) + ":" + list(x.operands);
          },
      },
      node.what);
  return std::to_string(node.what.index()) + "/" + std::to_string(static_cast<int>(node.type)) +
         "/" + text;
}

}  // namespace

Kernel rename_indices(const Kernel& kernel, const std::map<IndexId, IndexId>& to) {
  Kernel made = kernel;
  made.nodes.clear();
  const auto live = reachable(kernel);
  const auto renamed = [&](IndexId index) {
    const auto found = to.find(index);
    return found == to.end() ? index : found->second;
  };
  std::map<std::string, NodeId> known;
  std::vector<NodeId> now(kernel.nodes.size(), -1);
  for (std::size_t id = 0; id < kernel.nodes.size(); ++id) {
    if (!live[id]) continue;
    Node node = remapped(kernel.nodes[id], now);
    if (auto* value = std::get_if<IndexValue>(&node.what)) {
      value->index = renamed(value->index);
    } else if (auto* reduce = std::get_if<sema::Reduce>(&node.what)) {
      for (IndexId& index : reduce->indices) index = renamed(index);
    }
    const auto [at, fresh] = known.emplace(key_of(node), static_cast<NodeId>(made.nodes.size()));
    if (fresh) made.nodes.push_back(std::move(node));
    now[id] = at->second;
  }
  for (Assignment& assignment : made.assignments) {
    for (IndexId& index : assignment.indices) index = renamed(index);
    assignment.value = now[static_cast<std::size_t>(assignment.value)];
  }
  return made;
}

}  // namespace lay::tile
