#include "backend/tile/computable.h"

#include <algorithm>

#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

using sema::NodeId;

namespace {

// Returns true if the node by itself is valid for some values of its indices only.
bool may_fail(const sema::Kernel& kernel, const sema::Node& node) {
  if (const auto* load = std::get_if<sema::Load>(&node.what))
    return std::any_of(load->coordinate.begin(), load->coordinate.end(),
                       [&](NodeId at) { return sema::bare_index(kernel, at) < 0; });
  const auto* apply = std::get_if<sema::Apply>(&node.what);
  const bool divides =
      apply && (apply->function == ElementFunction::div || apply->function == ElementFunction::rem);
  return divides && !is_float(node.type);
}

// The operands that are computed wherever the node is.
std::vector<NodeId> always_taken(const sema::Node& node) {
  const auto* apply = std::get_if<sema::Apply>(&node.what);
  const bool lazy = apply && (apply->function == ElementFunction::select ||
                              apply->function == ElementFunction::and_ ||
                              apply->function == ElementFunction::or_);
  return lazy ? std::vector<NodeId>{apply->operands[0]} : sema::operands(node);
}

}  // namespace

std::vector<char> computable_everywhere(const sema::Kernel& kernel) {
  const std::size_t count = kernel.nodes.size();
  std::vector<char> fails(count, 0), always(count, 0), result(count, 0);
  for (std::size_t id = 0; id < count; ++id) {
    bool fails_here = may_fail(kernel, kernel.nodes[id]);
    for (const NodeId operand : sema::operands(kernel.nodes[id]))
      fails_here = fails_here || fails[static_cast<std::size_t>(operand)];
    fails[id] = fails_here ? 1 : 0;
  }
  for (const sema::Assignment& assignment : kernel.assignments)
    always[static_cast<std::size_t>(assignment.value)] = 1;
  for (std::size_t id = count; id-- > 0;) {
    if (!always[id]) continue;
    for (const NodeId operand : always_taken(kernel.nodes[id]))
      always[static_cast<std::size_t>(operand)] = 1;
  }
  for (std::size_t id = 0; id < count; ++id) result[id] = always[id] || !fails[id] ? 1 : 0;
  return result;
}

std::vector<std::optional<std::vector<Premise>>> premises(const sema::Kernel& kernel) {
  const std::size_t count = kernel.nodes.size();
  std::vector<std::optional<std::vector<Premise>>> under(count);
  std::vector<char> asked(count, 0);
  const auto ask = [&](NodeId id, const std::optional<std::vector<Premise>>& now) {
    const auto n = static_cast<std::size_t>(id);
    if (!asked[n]) {
      under[n] = now;
    } else if (under[n] != now) {
      under[n].reset();
    }
    asked[n] = 1;
  };
  for (const sema::Assignment& assignment : kernel.assignments)
    ask(assignment.value, std::vector<Premise>{});
  for (std::size_t id = count; id-- > 0;) {  // operands have smaller ids
    if (!asked[id]) continue;
    const sema::Node& node = kernel.nodes[id];
    const auto always = always_taken(node);
    const auto operands = sema::operands(node);
    for (const NodeId operand : always) ask(operand, under[id]);
    if (always.size() == operands.size()) continue;
    // A selection takes its second operand where the first one holds and its third where not, `and`
    // its second where the first one holds, `or` where not.
    const auto function = std::get<sema::Apply>(node.what).function;
    for (std::size_t i = 1; i < operands.size(); ++i) {
      auto inner = under[id];
      const bool holds = i == 1 && function != ElementFunction::or_;
      if (inner) inner->push_back({operands[0], holds});
      ask(operands[i], inner);
    }
  }
  return under;
}

}  // namespace lay::tile
