#include "backend/plan/mask.h"

#include <algorithm>

#include "backend/plan/recognise.h"

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
  sema::NodeId value = kernel.assignments.front().value;
  const auto* apply = std::get_if<sema::Apply>(&kernel.node(value).what);
  while (apply && apply->function == ElementFunction::cast) {
    value = apply->operands[0];
    apply = std::get_if<sema::Apply>(&kernel.node(value).what);
  }
  if (!apply || apply->function != ElementFunction::select || !is_mask(kernel, apply->operands[0]))
    return std::nullopt;
  const bool then = depends(kernel, apply->operands[1], contraction);
  const bool otherwise = depends(kernel, apply->operands[2], contraction);
  // Exactly one arm needs the products.
  if (then == otherwise) return std::nullopt;
  return Mask{apply->operands[0], then};
}

}  // namespace lay::plan
