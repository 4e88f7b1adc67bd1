#include "backend/tile/products/factors.h"

#include <algorithm>
#include <cmath>

#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

using namespace sema;

namespace {

const Apply* applied(const Kernel& kernel, NodeId id, ElementFunction function) {
  const auto* apply = std::get_if<Apply>(&kernel.node(id).what);
  return apply && apply->function == function ? apply : nullptr;
}

// An element of a tensor of integers of 8 bits or fewer, under casts.
bool is_small_integer(const Kernel& kernel, NodeId id) {
  while (const Apply* cast = applied(kernel, id, ElementFunction::cast)) id = cast->operands[0];
  const Node& node = kernel.node(id);
  return std::holds_alternative<Load>(node.what) && !is_float(node.type) && bits(node.type) <= 8;
}

// The product of two small integers under a cast to f32: |product| <= 2^16 has 17 digits of 24.
const Apply* exact_product(const Kernel& kernel, NodeId id) {
  const Apply* cast = applied(kernel, id, ElementFunction::cast);
  if (!cast || kernel.node(id).type != ElementType::f32) return nullptr;
  const Apply* product = applied(kernel, cast->operands[0], ElementFunction::mul);
  if (!product || kernel.node(cast->operands[0]).type != ElementType::s32) return nullptr;
  const bool small = std::all_of(product->operands.begin(), product->operands.end(),
                                 [&](NodeId operand) { return is_small_integer(kernel, operand); });
  return small ? product : nullptr;
}

void add_multiplicands(const Kernel& kernel, NodeId id, std::vector<NodeId>& to) {
  const Apply* product = applied(kernel, id, ElementFunction::mul);
  if (!product) product = exact_product(kernel, id);
  if (!product) return to.push_back(id);
  for (const NodeId operand : product->operands) add_multiplicands(kernel, operand, to);
}

bool is_zero(const Kernel& kernel, NodeId node) {
  const auto* literal = std::get_if<Literal>(&kernel.node(without_casts(kernel, node)).what);
  if (!literal) return false;
  const auto* integer = std::get_if<std::int64_t>(&literal->value);
  if (integer) return *integer == 0;
  const double value = std::get<double>(literal->value);
  return value == 0 && !std::signbit(value);
}

}  // namespace

std::vector<NodeId> multiplicands(const Kernel& kernel, NodeId value) {
  std::vector<NodeId> found;
  add_multiplicands(kernel, value, found);
  return found;
}

std::optional<FactorElement> element_of(const Kernel& kernel, NodeId factor) {
  NodeId node = without_casts(kernel, factor);
  FactorElement made;
  if (const auto* apply = std::get_if<Apply>(&kernel.node(node).what)) {
    if (apply->function != ElementFunction::select || !is_zero(kernel, apply->operands[2]))
      return std::nullopt;
    made.condition = apply->operands[0];
    made.selection = node;
    node = without_casts(kernel, apply->operands[1]);
  }
  if (!std::holds_alternative<Load>(kernel.node(node).what)) return std::nullopt;
  made.load = node;
  return made;
}

std::optional<Factors> factors_of(const Kernel& kernel, NodeId sum, NodeId a, NodeId b) {
  Factors made;
  const auto* reduce = std::get_if<sema::Reduce>(&kernel.node(sum).what);
  if (!reduce) return std::nullopt;
  for (const NodeId factor : multiplicands(kernel, reduce->body)) {
    const auto element = element_of(kernel, factor);
    if (made.a < 0 && element && element->load == a)
      made.a = factor;
    else if (made.b < 0 && element && element->load == b)
      made.b = factor;
    else
      made.others.push_back(factor);
  }
  return made.a >= 0 && made.b >= 0 ? std::optional(made) : std::nullopt;
}

bool depends_on(const Kernel& kernel, NodeId value, IndexId index, NodeId through) {
  const auto live = reachable_until(kernel, {value}, [&](NodeId id) { return id == through; });
  for (std::size_t n = 0; n < live.size(); ++n) {
    const auto id = static_cast<NodeId>(n);
    if (live[n] && id != through && bare_index(kernel, id) == index) return true;
  }
  return false;
}

}  // namespace lay::tile
