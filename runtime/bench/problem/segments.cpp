#include "runtime/bench/problem/segments.h"

#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::bench {

using enum ElementFunction;
using sema::NodeId;

namespace {

bool is_literal(const sema::Kernel& kernel, NodeId id, std::int64_t value) {
  const auto* literal = std::get_if<sema::Literal>(&kernel.node(without_casts(kernel, id)).what);
  const auto* whole = literal ? std::get_if<std::int64_t>(&literal->value) : nullptr;
  return whole && *whole == value;
}

const sema::Apply* applied(const sema::Kernel& kernel, NodeId id) {
  return std::get_if<sema::Apply>(&kernel.node(without_casts(kernel, id)).what);
}

// Returns the sum of which a node is 1 less.
const sema::Reduce* one_less(const sema::Kernel& kernel, NodeId id) {
  const auto* apply = applied(kernel, id);
  if (!apply || apply->operands.size() != 2) return nullptr;
  const bool subtracts = apply->function == sub && is_literal(kernel, apply->operands[1], 1);
  const bool adds = apply->function == add && is_literal(kernel, apply->operands[1], -1);
  if (!subtracts && !adds) return nullptr;
  const auto* sum =
      std::get_if<sema::Reduce>(&kernel.node(without_casts(kernel, apply->operands[0])).what);
  const bool fits = sum && sum->function == sema::ReduceFunction::sum && sum->indices.size() == 1;
  return fits ? sum : nullptr;
}

}  // namespace

std::optional<SegmentOf> segment_of(const sema::Kernel& kernel, NodeId coordinate) {
  const sema::Reduce* sum = one_less(kernel, coordinate);
  const auto* counts = sum ? applied(kernel, sum->body) : nullptr;
  if (!counts || counts->function != select || !is_literal(kernel, counts->operands[1], 1) ||
      !is_literal(kernel, counts->operands[2], 0))
    return std::nullopt;
  const auto* compares = applied(kernel, counts->operands[0]);
  if (!compares || (compares->function != le && compares->function != ge)) return std::nullopt;
  const bool begins_left = compares->function == le;
  const NodeId start = without_casts(kernel, compares->operands[begins_left ? 0 : 1]),
               position = without_casts(kernel, compares->operands[begins_left ? 1 : 0]);
  const auto* load = std::get_if<sema::Load>(&kernel.node(start).what);
  if (!load || load->coordinate.size() != 1 ||
      sema::bare_index(kernel, load->coordinate[0]) != sum->indices[0])
    return std::nullopt;
  return SegmentOf{load->tensor, sum->indices[0], position};
}

}  // namespace lay::bench
