#include "backend/plan/grouped/grouped_product.h"

#include <algorithm>
#include <set>

#include "backend/plan/scales/multiplicands.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::plan {

using namespace sema;

namespace {

enum class Direction { up, down };

// Whether values move in one direction, or not at all, as an index grows: of
// sum[e](if start[e] <= t then 1 else 0) - 1 the condition holds from some t on, so that each term
// and their sum move up with t. Sums are taken not to leave their type.
class Monotone {
 public:
  Monotone(const Kernel& kernel, IndexId index) : kernel_(kernel), index_(index) {}

  bool moves(NodeId id, Direction to) const {
    if (!indices_of(kernel_, id).contains(index_)) return true;
    const Node& node = kernel_.node(id);
    if (std::holds_alternative<IndexValue>(node.what)) return to == Direction::up;
    if (const auto* reduce = std::get_if<Reduce>(&node.what)) {
      const bool joins_in_order = reduce->function == ReduceFunction::sum ||
                                  reduce->function == ReduceFunction::max ||
                                  reduce->function == ReduceFunction::min;
      return joins_in_order && moves(reduce->body, to);
    }
    const auto* apply = std::get_if<Apply>(&node.what);
    return apply && moves(*apply, to);
  }

 private:
  static Direction other(Direction to) {
    return to == Direction::up ? Direction::down : Direction::up;
  }

  bool moves(const Apply& apply, Direction to) const {
    using enum ElementFunction;
    const auto& operands = apply.operands;
    switch (apply.function) {
      case add:
      case min:
      case max:
        return moves(operands[0], to) && moves(operands[1], to);
      case sub:
        return moves(operands[0], to) && moves(operands[1], other(to));
      case neg:
        return moves(operands[0], other(to));
      // Between integers that hold the values alike; a cast to fewer bits may wrap.
      case cast:
        return bits(kernel_.node(operands[0]).type) >= 32 && moves(operands[0], to);
      // Counts: 1 from where a condition begins to hold on, else 0.
      case select: {
        const auto then = literal(operands[1]), otherwise = literal(operands[2]);
        if (!then || !otherwise) return false;
        return holds_from(operands[0], *then >= *otherwise ? to : other(to));
      }
      default:
        return false;
    }
  }

  // Returns true if a condition, once it holds, holds for all greater values of the index (up), or
  // once it fails fails for all (down).
  bool holds_from(NodeId condition, Direction to) const {
    using enum ElementFunction;
    const auto* apply = std::get_if<Apply>(&kernel_.node(condition).what);
    if (!apply || apply->operands.size() != 2) return false;
    const bool right_grows = apply->function == lt || apply->function == le;
    if (!right_grows && apply->function != gt && apply->function != ge) return false;
    const NodeId greater = apply->operands[right_grows ? 1 : 0],
                 less = apply->operands[right_grows ? 0 : 1];
    return moves(greater, to) && moves(less, other(to));
  }

  std::optional<std::int64_t> literal(NodeId id) const {
    while (const auto* apply = std::get_if<Apply>(&kernel_.node(id).what)) {
      if (apply->function != ElementFunction::cast) return std::nullopt;
      id = apply->operands[0];
    }
    const auto* found = std::get_if<Literal>(&kernel_.node(id).what);
    const auto* whole = found ? std::get_if<std::int64_t>(&found->value) : nullptr;
    return whole ? std::optional(*whole) : std::nullopt;
  }

  const Kernel& kernel_;
  IndexId index_;
};

// The one coordinate of a load that is no bare index, and its mode; nothing where there are others.
std::optional<std::pair<NodeId, std::size_t>> computed_coordinate(const Kernel& kernel,
                                                                  const Load& load) {
  std::optional<std::pair<NodeId, std::size_t>> found;
  for (std::size_t mode = 0; mode < load.coordinate.size(); ++mode) {
    if (bare_index(kernel, load.coordinate[mode]) >= 0) continue;
    if (found) return std::nullopt;
    found = {load.coordinate[mode], mode};
  }
  return found;
}

// The load of the factor that has this index, at bare indices alone.
std::optional<NodeId> load_of_rows(const Kernel& kernel, const std::vector<NodeId>& factors,
                                   IndexId row) {
  for (const NodeId factor : factors) {
    const auto load = load_under_casts(kernel, factor);
    if (!load) continue;
    const auto& at = kernel.load(*load).coordinate;
    const auto is_bare = [&](NodeId each) { return bare_index(kernel, each) >= 0; };
    const auto is_row = [&](NodeId each) { return bare_index(kernel, each) == row; };
    if (std::all_of(at.begin(), at.end(), is_bare) && std::any_of(at.begin(), at.end(), is_row))
      return load;
  }
  return std::nullopt;
}

// The sum whose one factor has a coordinate that is read for one of the output's indices.
std::optional<GroupedProduct> grouped_at(const KernelPtr& kernel, NodeId id) {
  const Reduce* sum = accumulated_sum(*kernel, id);
  if (!sum) return std::nullopt;
  const auto factors = multiplicands(*kernel, sum->body);
  for (const NodeId factor : factors) {
    const auto load = load_under_casts(*kernel, factor);
    const auto computed = load ? computed_coordinate(*kernel, kernel->load(*load)) : std::nullopt;
    if (!computed || !reads_memory(*kernel, computed->first)) continue;
    const auto free = free_indices(*kernel)[static_cast<std::size_t>(computed->first)];
    if (free.size() != 1 || kernel->index(*free.begin()).summed) continue;
    const IndexId row = *free.begin();
    const auto rows = load_of_rows(*kernel, factors, row);
    if (!rows) continue;
    const auto mode = static_cast<int>(computed->second);
    return GroupedProduct{kernel,
                          computed->first,
                          *load,
                          *rows,
                          row,
                          lay::size(kernel->loaded(*load).layout[mode]),
                          never_decreases(*kernel, computed->first, row)};
  }
  return std::nullopt;
}

}  // namespace

bool never_decreases(const Kernel& kernel, NodeId node, IndexId index) {
  return !is_float(kernel.node(node).type) && Monotone(kernel, index).moves(node, Direction::up);
}

std::optional<GroupedProduct> recognise_grouped(const KernelPtr& given) {
  KernelPtr kernel = given;
  while (auto outside = with_factors_outside(*kernel))
    kernel = std::make_shared<const Kernel>(std::move(*outside));
  const auto live = reachable(*kernel);
  for (NodeId id = 0; id < static_cast<NodeId>(kernel->nodes.size()); ++id)
    if (live[static_cast<std::size_t>(id)])
      if (auto found = grouped_at(kernel, id)) return found;
  return std::nullopt;
}

}  // namespace lay::plan
