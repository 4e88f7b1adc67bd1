#include "backend/plan/fragments/k_order.h"

#include "backend/plan/tensor_shape.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::plan {

namespace {

constexpr int outer_axis = 0, k_axis = 1;

struct Leaf {
  int extent, step, axis;  // axis -1: stride 0
};

std::vector<Leaf> leaves_of(const Layout& held, int mode) {
  const auto extents = leaves(held.shape[mode]), strides = leaves(held.stride[mode]);
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
  const auto of_values = leaves_of(held, 1);
  KOrder order;
  order.run = run;
  for (std::size_t i = 0; i < of_values.size(); ++i) {
    const Leaf& leaf = of_values[i];
    if (leaf.axis != k_axis || leaf.extent == 1) continue;
    if (i > 0 || leaf.step != 1) return std::nullopt;
    order.together = leaf.extent;
  }
  for (const Leaf& leaf : leaves_of(held, 0)) {
    if (leaf.axis != k_axis) continue;
    if (leaf.step != order.together * order.lanes) return std::nullopt;
    order.lanes *= leaf.extent;
  }
  const bool whole = order.together * order.lanes == shape[k_axis] && run % order.together == 0;
  return whole ? std::optional(order) : std::nullopt;
}

Layout steps_of(const KOrder& order, int steps) {
  const int in_run = order.steps_of_run();
  if (in_run >= steps) return Layout(steps, order.together);
  return Layout(tuple(in_run, steps / in_run), tuple(order.together, order.block()));
}

Layout reordered(const Layout& operand, int outer, const KOrder& order) {
  Facts facts;
  const Layout places(tuple(outer, tuple(order.together, order.lanes)),
                      tuple(1, tuple(outer, outer * order.run)));
  return composition(facts, places, operand);
}

Layout loaded_by_lanes(const Layout& operand, std::array<int, 2> shape, const KOrder& order,
                       std::array<int, 2> tile, int groups, int slices) {
  const Layout held = fragment_of(operand, shape);
  Mode lanes, accesses;
  for (const Leaf& leaf : leaves_of(held, 0)) {
    const int step = leaf.axis == k_axis ? leaf.step / order.together * order.run : leaf.step;
    lanes.add(leaf.extent, leaf.axis < 0 ? Tuple(0) : step_along(step, leaf.axis));
  }
  const auto of_values = leaves_of(held, 1);
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

}  // namespace lay::plan
