#include "backend/plan/mask.h"

#include <algorithm>
#include <limits>

#include "backend/plan/recognise.h"
#include "backend/tile/chained_products.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::plan {

namespace {

bool depends(const sema::Kernel& kernel, sema::NodeId value, sema::NodeId on) {
  return reachable(kernel, {value})[static_cast<std::size_t>(on)] != 0;
}

// Sums of indices, dims and whole numbers: a range of indices gives a range of values
// (mask_range.h).
bool is_whole(const sema::Kernel& kernel, sema::NodeId id) {
  const sema::Node& at = kernel.node(id);
  if (std::holds_alternative<sema::IndexValue>(at.what) ||
      std::holds_alternative<sema::SizeValue>(at.what))
    return true;
  if (const auto* literal = std::get_if<sema::Literal>(&at.what)) {
    return std::holds_alternative<std::int64_t>(literal->value);
  }
  const auto* apply = std::get_if<sema::Apply>(&at.what);
  using enum ElementFunction;
  return apply && (apply->function == add || apply->function == sub) &&
         std::all_of(apply->operands.begin(), apply->operands.end(),
                     [&](sema::NodeId operand) { return is_whole(kernel, operand); });
}

// A value that gives a weight of 0: 0 itself, or -inf before the exponential.
bool is_zero_weight(const sema::Kernel& kernel, sema::NodeId id, bool of_exponential) {
  const auto* literal = std::get_if<sema::Literal>(&kernel.node(id).what);
  const auto* apply = std::get_if<sema::Apply>(&kernel.node(id).what);
  if (apply && (apply->function == ElementFunction::cast ||
                (of_exponential && apply->function == ElementFunction::neg))) {
    const bool negated = apply->function == ElementFunction::neg;
    const auto* inner = std::get_if<sema::Literal>(&kernel.node(apply->operands[0]).what);
    const auto* value = inner ? std::get_if<double>(&inner->value) : nullptr;
    if (negated) return value && *value == std::numeric_limits<double>::infinity();
    return is_zero_weight(kernel, apply->operands[0], of_exponential);
  }
  if (!literal) return false;
  const double value = std::visit([](auto x) { return static_cast<double>(x); }, literal->value);
  return of_exponential ? value == -std::numeric_limits<double>::infinity() : value == 0;
}

}  // namespace

// Comparisons of such numbers under `and`, `or`, `not`: m >= n, m - n < 128.
bool is_mask(const sema::Kernel& kernel, sema::NodeId id) {
  const auto* apply = std::get_if<sema::Apply>(&kernel.node(id).what);
  if (!apply) return false;
  using enum ElementFunction;
  const auto all = [&](const auto& good) {
    return std::all_of(apply->operands.begin(), apply->operands.end(),
                       [&](sema::NodeId operand) { return good(kernel, operand); });
  };
  switch (apply->function) {
    case and_:
    case or_:
    case not_:
      return all(is_mask);
    case lt:
    case le:
    case gt:
    case ge:
      return all(is_whole);
    default:
      return false;
  }
}

std::optional<Mask> mask_of(const sema::Kernel& kernel, sema::NodeId contraction) {
  if (kernel.assignments.size() != 1) return std::nullopt;
  // Y[m,n] = bf16(select(m >= n, sum, 0)): the cast may stand around the selection.
  const sema::NodeId value = sema::without_casts(kernel, kernel.assignments.front().value);
  const auto* apply = std::get_if<sema::Apply>(&kernel.node(value).what);
  if (!apply || apply->function != ElementFunction::select || !is_mask(kernel, apply->operands[0]))
    return std::nullopt;
  const bool then = depends(kernel, apply->operands[1], contraction);
  const bool otherwise = depends(kernel, apply->operands[2], contraction);
  // Exactly one arm needs the products.
  if (then == otherwise) return std::nullopt;
  return Mask{apply->operands[0], then};
}

std::optional<WeightMask> mask_of_weights(const tile::Program& chained) {
  const sema::Kernel& kernel = *chained.kernel;
  const tile::ChainedProducts parts = tile::chained_products_of(chained);
  const auto node_of = [&](tile::TileId id) { return chained.tile(id).value; };
  const bool has_maximum = parts.maximum != nullptr;
  // Other sums of terms that are no multiples of the weights would miss what is walked past.
  if (!has_maximum && !parts.sums.empty()) return std::nullopt;
  const sema::NodeId weight =
      has_maximum ? std::get<sema::Reduce>(kernel.node(node_of(parts.maximum->out)).what).body
                  : node_of(parts.result->a);
  const sema::NodeId selection = sema::without_casts(kernel, weight);
  const auto* select = std::get_if<sema::Apply>(&kernel.node(selection).what);
  if (!select || select->function != ElementFunction::select ||
      !is_mask(kernel, select->operands[0]))
    return std::nullopt;
  for (const bool when : {true, false}) {
    const sema::NodeId value = select->operands[when ? 1 : 2],
                       other = select->operands[when ? 2 : 1];
    if (is_zero_weight(kernel, other, has_maximum))
      return WeightMask{{select->operands[0], when}, selection, value};
  }
  return std::nullopt;
}

}  // namespace lay::plan
