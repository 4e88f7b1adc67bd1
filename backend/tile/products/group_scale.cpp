#include "backend/tile/products/group_scale.h"

#include <algorithm>
#include <numeric>

#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

using namespace sema;

namespace {

// The divisor of a node that divides the index by a number: a literal, or a size.
std::optional<Int> divisor(const Kernel& kernel, NodeId id, IndexId index) {
  const Node& node = kernel.node(id);
  const auto* apply = std::get_if<Apply>(&node.what);
  if (!apply || apply->function != ElementFunction::div || is_float(node.type) ||
      bare_index(kernel, apply->operands[0]) != index)
    return std::nullopt;
  const Node& by = kernel.node(apply->operands[1]);
  if (const auto* literal = std::get_if<Literal>(&by.what)) {
    const auto* integer = std::get_if<std::int64_t>(&literal->value);
    if (integer && *integer >= 1) return Int(*integer);
  }
  // Sizes are at least 1.
  const auto* size = std::get_if<SizeValue>(&by.what);
  return size && size->value.dim_id() ? std::optional(size->value) : std::nullopt;
}

// How a value depends on an index.
struct Dependence {
  bool itself = false;  // otherwise than by quotients
  bool reduces = false;
  std::vector<GroupScale::Quotient> quotients;
};

Dependence dependence(const Kernel& kernel, NodeId value, IndexId index) {
  Dependence found;
  found.itself = bare_index(kernel, value) == index;
  const auto below = reachable(kernel, {value});
  for (std::size_t n = 0; n < below.size(); ++n) {
    if (!below[n]) continue;
    const auto id = static_cast<NodeId>(n);
    if (std::holds_alternative<sema::Reduce>(kernel.node(id).what)) found.reduces = true;
    const std::vector<NodeId> inside = operands(kernel.node(id));
    const auto is_index = [&](NodeId operand) { return bare_index(kernel, operand) == index; };
    if (std::none_of(inside.begin(), inside.end(), is_index)) continue;
    // Whatever else an index stands in, a remainder, a sum or a coordinate, gives neighbours
    // different values.
    if (const auto by = divisor(kernel, id, index)) {
      found.quotients.push_back({id, *by});
    } else {
      found.itself = true;
    }
  }
  return found;
}

}  // namespace

std::optional<GroupScale> group_scale(const Kernel& kernel, NodeId value, IndexId k) {
  Dependence found = dependence(kernel, value, k);
  if (found.itself || found.reduces || found.quotients.empty()) return std::nullopt;
  return GroupScale{value, std::move(found.quotients)};
}

std::int64_t constant_run(const Kernel& kernel, NodeId value, IndexId index) {
  const Dependence found = dependence(kernel, value, index);
  if (found.itself) return 1;
  std::int64_t run = 0;
  // n // 64 and n // 48 stay the same together within 16; a size may be anything.
  for (const GroupScale::Quotient& each : found.quotients)
    run = std::gcd(run, each.group.is_literal() ? each.group.value() : 1);
  return run;
}

std::int64_t common_group(const std::vector<GroupScale>& scales) {
  std::int64_t common = 0;
  for (const GroupScale& scale : scales)
    for (const GroupScale::Quotient& each : scale.quotients)
      if (each.group.is_literal()) common = std::gcd(common, each.group.value());
  return common;
}

}  // namespace lay::tile
