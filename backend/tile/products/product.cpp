#include "backend/tile/products/product.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

#include "backend/tile/verify.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

using sema::IndexId;
using sema::Kernel;
using sema::NodeId;

namespace {

// Why the product is not one of two tiles, if it is not.
std::optional<NotTiled> fault_of(const Kernel& kernel, const Product& product) {
  const auto& sum = std::get<sema::Reduce>(kernel.node(product.sum).what);
  const auto* factors = std::get_if<sema::Apply>(&kernel.node(sum.body).what);
  const auto load = [&](std::size_t i) {
    return sema::without_casts(kernel, factors->operands[i]);
  };
  if (!factors || factors->function != ElementFunction::mul ||
      std::set{load(0), load(1)} != std::set{product.a, product.b})
    return NotTiled{"its sum has factors beside two elements of tensors"};
  const auto free = sema::free_indices(kernel);
  if (free[static_cast<std::size_t>(product.a)].contains(product.n) ||
      free[static_cast<std::size_t>(product.b)].contains(product.m))
    return NotTiled{"its rows select the part of an operand that they meet"};
  return std::nullopt;
}

class ProductMaker {
 public:
  ProductMaker(const sema::KernelPtr& kernel, const Product& product)
      : product_(product), free_(sema::free_indices(*kernel)) {
    made_.kernel = kernel;
  }

  Program run() {
    for (const IndexId index : {product_.m, product_.n}) add_axis(index);
    for (const IndexId index : product_.batch) add_axis(index);
    add_axis(product_.k);
    const AxisId k = summed_axis_of(made_);
    Block step;
    const TileId a = operand(product_.a, step), b = operand(product_.b, step);
    const TileId sum = add_tile({"sum", kernel().node(product_.sum).type, axes_of(product_.sum),
                                 Space::registers, product_.sum, -1});
    step.push_back({Mma{sum, a, b, k, {}}});
    Block body{{For{k, Walk::sequence, std::move(step), product_.parts}}};
    outputs(sum, body);
    for (AxisId axis = k; axis-- > 0;) body = {{For{axis, Walk::grid, std::move(body)}}};
    made_.body = std::move(body);
    verify_after("form", made_);
    return std::move(made_);
  }

 private:
  const Kernel& kernel() const { return *made_.kernel; }

  // The wish itself, then with a number.
  static std::string fresh(std::set<std::string>& names, const std::string& wish) {
    std::string name = wish;
    for (int number = 2; !names.insert(name).second; ++number) name = wish + std::to_string(number);
    return name;
  }

  void add_axis(IndexId id) {
    const sema::Index& index = kernel().index(id);
    made_.axes.push_back({fresh(axis_names_, index.name), {id}, index.extent, 0});
  }

  // The axes that a value depends on.
  std::vector<AxisId> axes_of(NodeId node) const {
    std::vector<AxisId> axes;
    for (std::size_t axis = 0; axis < made_.axes.size(); ++axis)
      if (free_[static_cast<std::size_t>(node)].contains(made_.axes[axis].indices.front()))
        axes.push_back(static_cast<AxisId>(axis));
    return axes;
  }

  TileId add_tile(Tile tile) {
    tile.name = fresh(tile_names_, tile.name);
    made_.tiles.push_back(std::move(tile));
    return static_cast<TileId>(made_.tiles.size()) - 1;
  }

  // Returns the tile in shared memory that is multiplied.
  TileId operand(NodeId load, Block& step) {
    const sema::Tensor& tensor = kernel().loaded(load);
    const auto axes = axes_of(load);
    const TileId from = add_tile({tensor.name, tensor.element, axes, Space::global, load, -1});
    const TileId to =
        add_tile({"tile_" + tensor.name, tensor.element, axes, Space::shared, load, -1});
    step.push_back({Copy{to, from}});
    return to;
  }

  // All outputs are computed before one is stored: they may read what another one replaces.
  void outputs(TileId sum, Block& body) {
    std::vector<AxisId> axes;
    for (AxisId axis = 0; axis < summed_axis_of(made_); ++axis) axes.push_back(axis);
    Block stores;
    for (std::size_t i = 0; i < kernel().assignments.size(); ++i) {
      const sema::Assignment& assignment = kernel().assignments[i];
      const sema::Tensor& tensor = kernel().tensor(assignment.target);
      TileId from = sum;
      if (assignment.value != product_.sum || tensor.element != made_.tile(sum).element ||
          made_.tile(sum).axes != axes) {
        from = add_tile(
            {"out_" + tensor.name, tensor.element, axes, Space::registers, assignment.value, -1});
        body.push_back({Map{from}});
      }
      const TileId to = add_tile({tensor.name, tensor.element, axes, Space::global,
                                  assignment.value, static_cast<int>(i)});
      stores.push_back({Copy{to, from}});
    }
    std::move(stores.begin(), stores.end(), std::back_inserter(body));
  }

  const Product& product_;
  std::vector<std::set<IndexId>> free_;
  Program made_;
  std::set<std::string> axis_names_, tile_names_;
};

}  // namespace

std::variant<Program, NotTiled> form_product(const sema::KernelPtr& kernel,
                                             const Product& product) {
  if (auto fault = fault_of(*kernel, product)) return *fault;
  return ProductMaker(kernel, product).run();
}

}  // namespace lay::tile
