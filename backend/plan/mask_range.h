// Decides whether a mask has its value anywhere in a tile, by the least and greatest value of each
// side of its comparisons: exact for a comparison of whole numbers made of coordinates and sizes; a
// combination of comparisons is never false where an element has the value.
//
// `Numbers` says what arithmetic it is done in: numbers at plan time, terms of the IR in an emitted
// kernel. It has
//   Number number(std::int64_t), Number size(const Int&)
//   std::optional<std::pair<Number, Number>> range(sema::IndexId)
//       the values of the index over the tile,
//       clipped to the output;
//       nothing for an index that is none of the output
//   Truth truth(bool)
// and Number + - < <= > >=, Truth && ||.
#pragma once

#include <optional>
#include <utility>

#include "backend/plan/sm90/sm90_gemm.h"

namespace lay::plan {

template <class Numbers>
class MaskRange {
 public:
  MaskRange(const sema::Kernel& kernel, Numbers& numbers) : kernel_(kernel), numbers_(numbers) {}

  // False only where the condition has the value nowhere in the tile.
  auto maybe(sema::NodeId condition, bool when) -> decltype(std::declval<Numbers&>().truth(false)) {
    using enum ElementFunction;
    const auto& apply = std::get<sema::Apply>(kernel_.node(condition).what);
    const auto part = [&](std::size_t i, bool value) { return maybe(apply.operands[i], value); };
    if (apply.function == not_) return part(0, !when);
    if (apply.function == and_ || apply.function == or_) {
      const bool both = (apply.function == and_) == when;
      return both ? part(0, when) && part(1, when) : part(0, when) || part(1, when);
    }
    const auto a = range(apply.operands[0]), b = range(apply.operands[1]);
    if (!a || !b) return numbers_.truth(true);
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

 private:
  using Number = decltype(std::declval<Numbers&>().number(0));
  using Range = std::pair<Number, Number>;

  std::optional<Range> range(sema::NodeId id) {
    const sema::Node& node = kernel_.node(id);
    const auto same = [](const Number& value) { return Range{value, value}; };
    if (const auto* literal = std::get_if<sema::Literal>(&node.what))
      return same(numbers_.number(std::get<std::int64_t>(literal->value)));
    if (const auto* size = std::get_if<sema::SizeValue>(&node.what))
      return same(numbers_.size(size->value));
    if (const auto* index = std::get_if<sema::IndexValue>(&node.what))
      return numbers_.range(index->index);
    const auto* apply = std::get_if<sema::Apply>(&node.what);
    if (!apply) return std::nullopt;
    const auto a = range(apply->operands[0]), b = range(apply->operands[1]);
    if (!a || !b) return std::nullopt;
    if (apply->function == ElementFunction::add)
      return Range{a->first + b->first, a->second + b->second};
    if (apply->function == ElementFunction::sub)
      return Range{a->first - b->second, a->second - b->first};
    return std::nullopt;
  }

  const sema::Kernel& kernel_;
  Numbers& numbers_;
};

}  // namespace lay::plan
