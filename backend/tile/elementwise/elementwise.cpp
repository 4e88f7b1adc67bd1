#include "backend/tile/elementwise/elementwise.h"

#include <algorithm>
#include <memory>
#include <set>

#include "backend/tile/elementwise/each_element.h"
#include "backend/tile/verify.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

using sema::IndexId;
using sema::NodeId;

namespace {

// Makes the unbound program where there is nothing bound, and else the bound one.
class ElementwiseMaker {
 public:
  ElementwiseMaker(const sema::KernelPtr& kernel, const Elementwise& how, bool is_bound)
      : how_(how), is_bound_(is_bound), free_(sema::free_indices(*kernel)) {
    made_.kernel = kernel;
  }

  Program run() {
    add_axes();
    if (is_bound_) {
      made_.threads = how_.threads;
      made_.grid = how_.grid;
      made_.blocks_per_sm = how_.blocks_per_sm;
    }
    for (const ElementwiseLoad& load : how_.loads) read(load);
    for (std::size_t i = 0; i < how_.loads.size(); ++i)
      if (is_bound_ && how_.loads[i].staged) put(i);
    for (std::size_t i = 0; i < how_.loads.size(); ++i)
      if (is_bound_ && how_.loads[i].staged) get(i);
    std::vector<TileId> values;
    for (std::size_t i = 0; i < kernel().assignments.size(); ++i) values.push_back(value(i));
    for (std::size_t i = 0; i < values.size(); ++i) store(i, values[i]);
    for (std::size_t axis = made_.axes.size(); axis-- > 0;)
      body_ = {{For{static_cast<AxisId>(axis), Walk::grid, std::move(body_)}}};
    made_.body = std::move(body_);
    verify_after(is_bound_ ? "bind" : "form", made_);
    return std::move(made_);
  }

 private:
  const sema::Kernel& kernel() const { return *made_.kernel; }

  void add_axes() {
    if (how_.joined) {
      made_.axes.push_back({"element", *how_.joined, extent_of_all(kernel(), *how_.joined),
                            is_bound_ ? how_.tile.front() : 0});
      return;
    }
    const auto& indices = kernel().assignments.front().indices;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const sema::Index& index = kernel().index(indices[i]);
      made_.axes.push_back({index.name, {indices[i]}, index.extent, is_bound_ ? how_.tile[i] : 0});
    }
  }

  std::vector<AxisId> all_axes() const {
    std::vector<AxisId> axes;
    for (std::size_t axis = 0; axis < made_.axes.size(); ++axis)
      axes.push_back(static_cast<AxisId>(axis));
    return axes;
  }

  // The axes that a value depends on.
  std::vector<AxisId> axes_of(NodeId node) const {
    std::vector<AxisId> axes;
    for (const AxisId axis : all_axes())
      if (std::ranges::any_of(made_.axis(axis).indices, [&](IndexId index) {
            return free_[static_cast<std::size_t>(node)].contains(index);
          }))
        axes.push_back(axis);
    return axes;
  }

  // The wish itself, then with a number, as the kernel IR numbers what has one name.
  std::string fresh(const std::string& wish) {
    std::string name = wish;
    for (int number = 1; !names_.insert(name).second; ++number)
      name = wish + std::to_string(number);
    return name;
  }

  TileId add_tile(Tile tile) {
    tile.name = fresh(tile.name);
    made_.tiles.push_back(std::move(tile));
    return static_cast<TileId>(made_.tiles.size()) - 1;
  }

  // A tile of what the load reads.
  TileId add_tile(const ElementwiseLoad& load, const char* suffix, Space space) {
    const sema::Tensor& tensor = kernel().loaded(load.load);
    return add_tile(
        {tensor.name + suffix, tensor.element, axes_of(load.load), space, load.load, -1});
  }

  void read(const ElementwiseLoad& load) {
    const TileId from = add_tile(load, "", Space::global);
    const TileId to = add_tile(load, "_ahead", Space::registers);
    if (is_bound_ && load.staged)
      made_.tiles[static_cast<std::size_t>(to)].threads = load.staged->threads;
    Copy copy{to, from};
    if (is_bound_) {
      copy.vector = load.vector;
      copy.vector_mode = load.vector_mode;
    }
    body_.push_back({std::move(copy)});
    held_.push_back(to);
  }

  void put(std::size_t i) {
    const ElementwiseLoad& load = how_.loads[i];
    const TileId to = add_tile(load, "_shared", Space::shared);
    SharedTile& shared = made_.tiles[static_cast<std::size_t>(to)].shared.emplace();
    shared.layout = load.staged->shared;
    body_.push_back({Copy{to, held_[i]}});
    held_[i] = to;
  }

  void get(std::size_t i) {
    const ElementwiseLoad& load = how_.loads[i];
    const TileId to = add_tile(load, "_here", Space::registers);
    Copy copy{to, held_[i]};
    copy.vector = load.staged->read_vector;
    copy.vector_mode = how_.threads.along;
    body_.push_back({std::move(copy)});
    held_[i] = to;
  }

  // Returns the tile that is stored: of an output that takes over the elements of an input as they
  // are, those.
  TileId value(std::size_t i) {
    const sema::Assignment& assignment = kernel().assignments[i];
    const sema::Tensor& tensor = kernel().tensor(assignment.target);
    for (std::size_t l = 0; l < how_.loads.size(); ++l) {
      const NodeId load = how_.loads[l].load;
      if (load == assignment.value && kernel().loaded(load).element == tensor.element)
        return held_[l];
    }
    const TileId out = add_tile(
        {tensor.name + "_out", tensor.element, all_axes(), Space::registers, assignment.value, -1});
    body_.push_back({Map{out}});
    return out;
  }

  void store(std::size_t i, TileId from) {
    const sema::Assignment& assignment = kernel().assignments[i];
    const sema::Tensor& tensor = kernel().tensor(assignment.target);
    const TileId to = add_tile({tensor.name, tensor.element, all_axes(), Space::global,
                                assignment.value, static_cast<int>(i)});
    Copy copy{to, from};
    if (is_bound_) {
      copy.vector = how_.stores[i].vector;
      copy.vector_mode = how_.stores[i].vector_mode;
    }
    body_.push_back({std::move(copy)});
  }

  const Elementwise& how_;
  bool is_bound_;
  std::vector<std::set<IndexId>> free_;
  Program made_;
  Block body_;
  std::vector<TileId> held_;  // by load: the tile that holds it now
  std::set<std::string> names_;
};

}  // namespace

Program form_elementwise(const sema::KernelPtr& kernel, const std::vector<NodeId>& loads) {
  Elementwise how;
  for (const NodeId load : loads) how.loads.push_back({load});
  return ElementwiseMaker(kernel, how, false).run();
}

Program bind_elementwise(const sema::KernelPtr& kernel, const Elementwise& how) {
  return ElementwiseMaker(kernel, how, true).run();
}

std::vector<LoadWay> loads_of(const Program& program) {
  std::vector<LoadWay> ways;
  for_each(program.body, [&](const Stmt& stmt) {
    const auto* copy = std::get_if<Copy>(&stmt.node);
    if (!copy) return;
    const Space to = program.tile(copy->dst).space, from = program.tile(copy->src).space;
    if (from == Space::global) {
      ways.push_back({copy});
      return;
    }
    for (LoadWay& way : ways) {
      if (to == Space::shared && way.load->dst == copy->src) way.put = copy;
      if (from == Space::shared && way.put && way.put->dst == copy->src) way.get = copy;
    }
  });
  return ways;
}

std::vector<const Copy*> stores_of(const Program& program) {
  std::vector<const Copy*> stores;
  for_each(program.body, [&](const Stmt& stmt) {
    const auto* copy = std::get_if<Copy>(&stmt.node);
    if (copy && program.tile(copy->dst).space == Space::global) stores.push_back(copy);
  });
  return stores;
}

Program formed_of(const Program& bound) {
  std::vector<NodeId> loads;
  for (const LoadWay& way : loads_of(bound)) loads.push_back(bound.tile(way.load->dst).value);
  if (!is_of_each_element(bound)) return form_elementwise(bound.kernel, loads);
  Elementwise how;
  how.joined = bound.axes.front().indices;
  return ElementwiseMaker(bound.kernel, how, false).run();
}

sema::KernelPtr with_assignments(const sema::Kernel& kernel,
                                 std::vector<sema::Assignment> assignments) {
  sema::Kernel alone = kernel;
  alone.assignments = std::move(assignments);
  for (sema::TensorId id = 0; id < static_cast<sema::TensorId>(alone.tensors.size()); ++id)
    if (std::ranges::none_of(alone.assignments,
                             [&](const sema::Assignment& each) { return each.target == id; }))
      alone.tensors[static_cast<std::size_t>(id)].access = sema::Access::input;
  return std::make_shared<const sema::Kernel>(std::move(alone));
}

std::int64_t staged_bytes(const AnyLayout& shared, ElementType element) {
  // Buffers of shared memory begin at multiples of 128 bytes, as the layout of a kernel's shared
  // memory places them.
  constexpr std::int64_t step = 128;
  const auto offsets = values(shared);
  const std::int64_t bytes =
      (*std::max_element(offsets.begin(), offsets.end()) + 1) * std::max(8, bits(element)) / 8;
  return (bytes + step - 1) / step * step;
}

}  // namespace lay::tile
