// Tiles where no product counts: the range of each side of a comparison over the tile, as far as the output goes.
#include "backend/ir/lower_sm90.h"

namespace lay::ir {

// The least and the greatest value of a whole number over the cluster's tile.
std::optional<Sm90Lowering::Range> Sm90Lowering::range(sema::NodeId id, const std::vector<Term>& tile) {
  const sema::Node& node = declared_.kernel.nodes[static_cast<size_t>(id)];
  if (const auto* literal = std::get_if<sema::Literal>(&node.what)) {
    const Term value = number(std::get<std::int64_t>(literal->value));
    return Range{value, value};
  }
  if (const auto* size = std::get_if<sema::SizeValue>(&node.what)) {
    const Term value = b_.size(size->value);
    return Range{value, value};
  }
  if (const auto* index = std::get_if<sema::IndexValue>(&node.what)) {
    for (size_t axis = 0; axis < 2; ++axis) {
      if (index->index != (axis == 0 ? gemm_.m : gemm_.n)) continue;
      const int extent = gemm_.cluster_tile()[axis];
      const Term first = tile[axis] * extent;
      return Range{first, b_.min(first + (extent - 1), declared_.extent(index->index) - 1)};
    }
    for (size_t i = 0; i < gemm_.batch.size(); ++i) {
      if (index->index == gemm_.batch[i]) return Range{tile[i + 2], tile[i + 2]};
    }
    return std::nullopt;
  }
  const auto* apply = std::get_if<sema::Apply>(&node.what);
  if (!apply) return std::nullopt;
  const auto a = range(apply->operands[0], tile), b = range(apply->operands[1], tile);
  if (!a || !b) return std::nullopt;
  if (apply->function == ElementFunction::add) return Range{a->first + b->first, a->second + b->second};
  if (apply->function == ElementFunction::sub) return Range{a->first - b->second, a->second - b->first};
  return std::nullopt;
}

// False only where the condition has the value nowhere in the tile.
Term Sm90Lowering::maybe(sema::NodeId condition, bool when, const std::vector<Term>& tile) {
  using enum ElementFunction;
  const auto& apply = std::get<sema::Apply>(declared_.kernel.nodes[static_cast<size_t>(condition)].what);
  const auto part = [&](size_t i, bool value) { return maybe(apply.operands[i], value, tile); };
  if (apply.function == not_) return part(0, !when);
  if (apply.function == and_ || apply.function == or_) {
    const bool both = (apply.function == and_) == when;
    return both ? part(0, when) && part(1, when) : part(0, when) || part(1, when);
  }
  const auto a = range(apply.operands[0], tile), b = range(apply.operands[1], tile);
  if (!a || !b) return number(0) == 0;
  ElementFunction function = apply.function;
  if (!when) function = function == lt ? ge : function == le ? gt : function == gt ? le : lt;
  switch (function) {
    case lt:
      return a->first < b->second;
    case le:
      return a->first <= b->second;
    case gt:
      return a->second > b->first;
    default:
      return a->second >= b->first;
  }
}

Term Sm90Lowering::has_products(const std::vector<Term>& tile) {
  return maybe(gemm_.mask->condition, gemm_.mask->when, tile);
}

}  // namespace lay::ir
