#include "backend/plan/fragments/k_order.h"

#include <algorithm>

#include "backend/plan/tensor_shape.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::plan {

namespace {

constexpr int outer_axis = 0, k_axis = 1;

// A leaf of a layout onto (outer, k): 4:8@1 is 4 places along k, 8 apart.
struct Leaf {
  int extent, step, axis;  // axis -1: stride 0
};

std::vector<Leaf> leaves_of(const Tuple& shape, const Tuple& stride) {
  const auto extents = leaves(shape), strides = leaves(stride);
  std::vector<Leaf> made;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const bool moves = strides[i].is_basis();
    made.push_back({static_cast<int>(extents[i].value().value()),
                    moves ? static_cast<int>(strides[i].value().value()) : 0,
                    moves ? static_cast<int>(strides[i].path()[0]) : -1});
  }
  return made;
}

Tuple step_along(int step, int axis) {
  return Tuple::basis(step, {axis});
}

// A mode of several leaves, or the leaf itself.
struct Mode {
  std::vector<Tuple> shape, stride;

  void add(int extent, Tuple step) {
    shape.emplace_back(extent);
    stride.push_back(std::move(step));
  }
  Tuple extents() const { return shape.size() == 1 ? shape[0] : Tuple(shape); }
  Tuple steps() const { return stride.size() == 1 ? stride[0] : Tuple(stride); }
};

}  // namespace

std::optional<KOrder> k_order(const Layout& operand, std::array<int, 2> shape, int run) {
  const Layout held = fragment_of(operand, shape);
  const auto of_values = leaves_of(held.shape[1], held.stride[1]);
  KOrder order;
  order.run = run;
  // Of the values only the first leaf may run along k: neighbours. The others are rows.
  for (std::size_t i = 0; i < of_values.size(); ++i) {
    const Leaf& leaf = of_values[i];
    if (leaf.axis != k_axis || leaf.extent == 1) continue;
    if (i > 0 || leaf.step != 1) return std::nullopt;
    order.together = leaf.extent;
  }
  // Lanes that share a row have the neighbours behind each other's, in the order of the lanes.
  // Where two of them hold the same, both would copy it.
  for (const Leaf& leaf : leaves_of(held.shape[0], held.stride[0])) {
    if (leaf.axis < 0 && leaf.extent > 1) return std::nullopt;
    if (leaf.axis != k_axis) continue;
    if (leaf.step != order.together * order.lanes) return std::nullopt;
    order.lanes *= leaf.extent;
  }
  const bool whole = order.together * order.lanes == shape[k_axis] && run % order.together == 0;
  return whole ? std::optional(order) : std::nullopt;
}

Layout steps_of(const KOrder& order, int steps) {
  const int in_run = order.steps_of_run();
  // Runs of 32 have four steps of 8, then the next block of 128 begins: (4,2):(8,128).
  if (in_run >= steps) return Layout(steps, order.together);
  return Layout(tuple(in_run, steps / in_run), tuple(order.together, order.block()));
}

Layout reordered(const Layout& operand, int outer, const KOrder& order) {
  Facts facts;
  // Element (outer, (together, lane)) of the instruction lies where lane's run of the block begins.
  const Layout places(tuple(outer, tuple(order.together, order.lanes)),
                      tuple(1, tuple(outer, outer * order.run)));
  return composition(facts, places, operand);
}

Layout copied_by_lanes(const Layout& operand, std::array<int, 2> shape, const KOrder& order,
                       std::array<int, 2> tile, int groups, int slices) {
  const Layout held = fragment_of(operand, shape);
  Mode lanes, accesses;
  // Lanes along k begin a run apart, where the instruction has them `together` apart.
  for (const Leaf& leaf : leaves_of(held.shape[0], held.stride[0])) {
    const int step = leaf.axis == k_axis ? leaf.step / order.together * order.run : leaf.step;
    lanes.add(leaf.extent, leaf.axis < 0 ? Tuple(0) : step_along(step, leaf.axis));
  }
  const auto of_values = leaves_of(held.shape[1], held.stride[1]);
  for (const Leaf& leaf : of_values)
    if (leaf.axis == outer_axis) accesses.add(leaf.extent, step_along(leaf.step, outer_axis));
  const int part = tile[outer_axis] / groups, part_k = tile[k_axis] / slices;
  accesses.add(part / shape[outer_axis], step_along(shape[outer_axis], outer_axis));
  accesses.add(part_k / order.block(), step_along(order.block(), k_axis));
  return Layout(
      tuple(tuple(lanes.extents(), groups, slices), tuple(order.run, accesses.extents())),
      tuple(tuple(lanes.steps(), step_along(part, outer_axis), step_along(part_k, k_axis)),
            tuple(step_along(1, k_axis), accesses.steps())));
}

Layout accesses_side_by_side(const Layout& threads) {
  // Elements of a leaf are `step` apart in the tile, and `place` apart in shared memory.
  struct Part {
    int extent, step, place;
  };
  std::array<std::vector<Part>, 2> parts;
  const int vector = static_cast<int>(size(threads.shape[1][0]).value()),
            count = static_cast<int>(size(threads.shape[0]).value());
  // Where the leaves of a mode lie, the first `first` elements apart.
  const auto add = [&](const Tuple& shape, const Tuple& stride, int first) {
    for (const Leaf& leaf : leaves_of(shape, stride)) {
      if (leaf.extent > 1) parts[leaf.axis].push_back({leaf.extent, leaf.step, first});
      first *= leaf.extent;
    }
  };
  add(threads.shape[1][0], threads.stride[1][0], 1);
  add(threads.shape[0], threads.stride[0], vector);
  add(threads.shape[1][1], threads.stride[1][1], vector * count);
  // (32,(4,8)):(1@1,(32@1,1@0)) covers its tile once, so that an axis has its leaves in the order
  // of their steps: k is (32,4) of places (1,32), the outer index 8 of places 128.
  std::array<Mode, 2> modes;
  for (const int axis : {outer_axis, k_axis}) {
    std::ranges::sort(parts[axis], {}, &Part::step);
    for (const Part& part : parts[axis]) modes[axis].add(part.extent, Tuple(part.place));
    if (parts[axis].empty()) modes[axis].add(1, Tuple(0));
  }
  return Layout(tuple(modes[0].extents(), modes[1].extents()),
                tuple(modes[0].steps(), modes[1].steps()));
}

}  // namespace lay::plan
