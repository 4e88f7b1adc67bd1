#include "backend/tile/products/product.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

#include "backend/tile/products/factors.h"
#include "backend/tile/products/group_scale.h"
#include "backend/tile/verify.h"
#include "frontend/algebra/tuples/tuple_operations.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

using sema::IndexId;
using sema::Kernel;
using sema::NodeId;

namespace {

// Why the product is not one of two tiles, if it is not.
std::optional<NotTiled> fault_of(const Kernel& kernel, const Product& product) {
  const auto factors = factors_of(kernel, product.sum, product.a, product.b);
  if (!factors) return NotTiled{"its sum is not of products of two elements of tensors"};
  for (const NodeId other : factors->others)
    if (!group_scale(kernel, other, product.k))
      return NotTiled{"a factor beside the two elements differs within every group of its sum"};
  // A row's segment is the same for all rows of a tile.
  const NodeId segment = product.segments ? product.segments->of : -1;
  if (depends_on(kernel, product.a, product.n) || depends_on(kernel, product.b, product.m, segment))
    return NotTiled{"its rows select the part of an operand that they meet"};
  if (product.further.empty()) return std::nullopt;
  if (!factors->others.empty() || product.segments)
    return NotTiled{"one of several products has scales, or their rows have segments"};
  for (const FurtherProduct& each : product.further) {
    const auto of_each = factors_of(kernel, each.sum, product.a, each.b);
    if (!of_each || !of_each->others.empty())
      return NotTiled{"a further sum is not of products of its rows' operand and another one"};
    const auto& indices = std::get<sema::Reduce>(kernel.node(each.sum).what).indices;
    if (indices != std::vector{product.k}) return NotTiled{"a further sum is over another index"};
    if (depends_on(kernel, each.b, product.m))
      return NotTiled{"its rows select the part of an operand that they meet"};
  }
  return std::nullopt;
}

// Makes the unbound program where there is nothing bound, and else the bound one.
class ProductMaker {
 public:
  ProductMaker(const sema::KernelPtr& kernel, const Product& product, const BoundProduct* how)
      : product_(product), how_(how), free_(sema::free_indices(*kernel)) {
    made_.kernel = kernel;
  }

  Program run() {
    add_axis(product_.m, how_ ? how_->tile[0] : 0);
    made_.axes.front().segments = product_.segments;
    add_axis(product_.n, how_ ? how_->tile[1] : 0);
    for (const IndexId index : product_.batch) add_axis(index, how_ ? 1 : 0);
    add_axis(product_.k, how_ ? how_->tile[2] : 0);
    if (how_) {
      made_.threads = how_->threads;
      made_.grid = how_->grid;
      made_.warpgroups = how_->warpgroups;
      made_.blocks_per_sm = how_->blocks_per_sm;
      made_.copies = how_->copies;
    }
    const AxisId k = summed_axis_of(made_);
    Block step;
    const Factors factors = *factors_of(kernel(), product_.sum, product_.a, product_.b);
    const TileId a = operand(product_.a, factors.a, how_ ? &how_->operands.front() : nullptr, step);
    const TileId b = operand(product_.b, factors.b, how_ ? &how_->operands.back() : nullptr, step);
    std::vector<Mma> products{product(product_.sum, a, b)};
    for (std::size_t i = 0; i < product_.further.size(); ++i) {
      const FurtherProduct& each = product_.further[i];
      const NodeId factor = factors_of(kernel(), each.sum, product_.a, each.b)->b;
      const TileId other = operand(each.b, factor, how_ ? &how_->further[i] : nullptr, step);
      products.push_back(product(each.sum, a, other));
    }
    for (Mma& each : products) step.push_back({std::move(each)});
    Block body{{For{k, Walk::sequence, std::move(step), product_.parts, how_ && how_->alternates,
                    how_ ? how_->tail : 1}}};
    if (how_)
      for (const BoundInput& each : how_->inputs) input(each, body);
    outputs(body);
    for (AxisId axis = k; axis-- > 0;) body = {{For{axis, Walk::grid, std::move(body)}}};
    made_.body = std::move(body);
    verify_after(how_ ? "bind" : "form", made_);
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

  void add_axis(IndexId id, int tile) {
    const sema::Index& index = kernel().index(id);
    made_.axes.push_back({fresh(axis_names_, index.name), {id}, index.extent, tile});
  }

  // The axes that a value depends on within a tile.
  std::vector<AxisId> axes_of(NodeId node) const {
    std::vector<AxisId> axes;
    for (std::size_t id = 0; id < made_.axes.size(); ++id) {
      const Axis& axis = made_.axes[id];
      const IndexId index = axis.indices.front();
      const bool depends = free_[static_cast<std::size_t>(node)].contains(index);
      if (depends && (!axis.segments || depends_on(kernel(), node, index, axis.segments->of)))
        axes.push_back(static_cast<AxisId>(id));
    }
    return axes;
  }

  TileId add_tile(Tile tile) {
    tile.name = fresh(tile_names_, tile.name);
    made_.tiles.push_back(std::move(tile));
    return static_cast<TileId>(made_.tiles.size()) - 1;
  }

  // The products of two tiles, and the tile of their sum.
  Mma product(NodeId sum, TileId a, TileId b) {
    Mma made{add_tile({"sum", kernel().node(sum).type, axes_of(sum), Space::registers, sum, -1}),
             a,
             b,
             summed_axis_of(made_),
             {}};
    sums_.push_back(made.out);
    if (!how_) return made;
    made.atom = how_->atom;
    made.interval = how_->interval;
    made.sets = how_->sets;
    if (how_->exchanged) std::swap(made.a, made.b);
    return made;
  }

  // Returns the tile that is multiplied. `factor` is what the sum multiplies, the load under casts;
  // `bound` nothing before it is bound.
  TileId operand(NodeId load, NodeId factor, const BoundOperand* bound, Block& step) {
    const sema::Tensor& tensor = kernel().loaded(load);
    const auto axes = axes_of(load);
    const TileId from = add_tile({tensor.name, tensor.element, axes, Space::global, load, -1});
    // Zeros around a window are there once it is copied.
    const NodeId selection = element_of(kernel(), factor)->selection;
    const TileId to = add_tile({"tile_" + tensor.name, tensor.element, axes, Space::shared,
                                selection >= 0 ? selection : load, -1});
    Copy copy{to, from};
    if (!bound) {
      step.push_back({copy});
      return to;
    }
    const BoundOperand& how = *bound;
    Tile& shared = made_.tiles[static_cast<std::size_t>(to)];
    if (!how_->atom) {
      shared.value = factor;
      shared.element = kernel().node(product_.sum).type;
    }
    shared.shared = how.shared;
    if (how.async) {
      shared.threads = how.threads;
      shared.filled_by = how.async;
    }
    const bool is_converted = shared.value != load || shared.element != tensor.element;
    if (how.threads && !how.async) {
      copy.dst = add_tile({tensor.name + "_next",
                           tensor.element,
                           axes,
                           Space::registers,
                           load,
                           -1,
                           {},
                           how.threads});
      copy.vector = how.vector;
      copy.vector_mode = how.vector_mode;
      step.push_back({copy});
      // Shared memory is accessed along its first mode, the outer one.
      step.push_back(is_converted ? Stmt{Map{to}} : Stmt{Copy{to, copy.dst, how.store_vector, 0}});
    } else {
      copy.vector = how.vector;
      copy.vector_mode = how.vector_mode;
      step.push_back({copy});
    }
    return how.fragment ? fragment(load, factor, to, how, step) : to;
  }

  TileId fragment(NodeId load, NodeId factor, TileId shared, const BoundOperand& how, Block& step) {
    Tile held{"fragment_" + kernel().loaded(load).name, *how.fragment, made_.tile(shared).axes};
    held.value = how.converted ? factor : made_.tile(shared).value;
    held.filled_by = how.fragment_copy;
    const TileId to = add_tile(std::move(held));
    step.push_back(how.converted ? Stmt{Map{to}} : Stmt{Copy{to, shared}});
    return to;
  }

  // Inputs are read before an output is stored, which may replace them.
  void input(const BoundInput& how, Block& body) {
    const sema::Tensor& tensor = kernel().loaded(how.load);
    const auto axes = axes_of(how.load);
    const TileId from = add_tile({tensor.name, tensor.element, axes, Space::global, how.load, -1});
    Tile near{(how.how.shared ? "staged_" : "ahead_") + tensor.name, tensor.element, axes,
              how.how.shared ? Space::shared : Space::registers, how.load};
    near.shared = how.how.shared;
    near.threads = how.how.threads;
    const TileId to = add_tile(std::move(near));
    body.push_back({Copy{to, from, how.how.vector, how.how.vector_mode}});
  }

  // All outputs are computed before one is stored: they may read what another one replaces.
  void outputs(Block& body) {
    std::vector<AxisId> axes;
    for (AxisId axis = 0; axis < summed_axis_of(made_); ++axis) axes.push_back(axis);
    Block stores;
    for (std::size_t i = 0; i < kernel().assignments.size(); ++i) {
      const sema::Assignment& assignment = kernel().assignments[i];
      const sema::Tensor& tensor = kernel().tensor(assignment.target);
      const auto sum = std::ranges::find_if(sums_, [&](TileId id) {
        const Tile& tile = made_.tile(id);
        return assignment.value == tile.value && tensor.element == tile.element &&
               tile.axes == axes;
      });
      TileId from = sum == sums_.end() ? -1 : *sum;
      if (from < 0) {
        from = add_tile(
            {"out_" + tensor.name, tensor.element, axes, Space::registers, assignment.value, -1});
        body.push_back({Map{from}});
      }
      if (how_ && how_->outputs[i].shared) {
        Tile staged{"staged_" + tensor.name, tensor.element, axes, Space::shared, assignment.value};
        staged.shared = how_->outputs[i].shared;
        staged.threads = how_->outputs[i].threads;
        const TileId near = add_tile(std::move(staged));
        stores.push_back({Copy{near, from}});
        from = near;
      }
      const TileId to = add_tile({tensor.name, tensor.element, axes, Space::global,
                                  assignment.value, static_cast<int>(i)});
      Copy copy{to, from};
      if (how_) {
        copy.vector = how_->outputs[i].vector;
        copy.vector_mode = how_->outputs[i].vector_mode;
      }
      stores.push_back({copy});
    }
    std::move(stores.begin(), stores.end(), std::back_inserter(body));
  }

  const Product& product_;
  const BoundProduct* how_;
  std::vector<std::set<IndexId>> free_;
  Program made_;
  std::vector<TileId> sums_;  // of the products, in their order
  std::set<std::string> axis_names_, tile_names_;
};

}  // namespace

std::variant<Program, NotTiled> form_product(const sema::KernelPtr& kernel,
                                             const Product& product) {
  if (auto fault = fault_of(*kernel, product)) return *fault;
  return ProductMaker(kernel, product, nullptr).run();
}

Program bind_product(const sema::KernelPtr& kernel, const Product& product,
                     const BoundProduct& how) {
  return ProductMaker(kernel, product, &how).run();
}

ProductParts parts_of(const Program& product) {
  ProductParts parts;
  std::vector<const Stmt*> steps;  // before the product
  for_each(product.body, [&](const Stmt& stmt) {
    if (const auto* loop = std::get_if<For>(&stmt.node)) {
      if (loop->walk == Walk::sequence) parts.sums = loop;
    } else if (const auto* mma = std::get_if<Mma>(&stmt.node)) {
      if (parts.mma)
        parts.further.push_back({mma, {}});
      else
        parts.mma = mma;
    } else if (const auto* copy = std::get_if<Copy>(&stmt.node);
               copy && product.tile(copy->dst).space == Space::global) {
      parts.stores.push_back(copy);
    } else if (!parts.mma) {
      steps.push_back(&stmt);
    } else if (copy && product.tile(copy->src).space == Space::global) {
      parts.inputs.push_back(copy);
    }
  });
  const auto runs = [&](TileId id, AxisId axis) {
    const auto& axes = product.tile(id).axes;
    return std::ranges::find(axes, axis) != axes.end();
  };
  parts.exchanged = runs(parts.mma->a, column_axis) || runs(parts.mma->b, row_axis);
  const auto load_of = [&](TileId tile) {
    const auto element = element_of(*product.kernel, product.tile(tile).value);
    return element ? element->load : -1;
  };
  const auto steps_of = [&](TileId multiplied) {
    ProductParts::Operand operand;
    operand.shared = multiplied;
    const NodeId load = load_of(multiplied);
    for (const Stmt* stmt : steps) {
      const auto* copy = std::get_if<Copy>(&stmt->node);
      const TileId to = copy ? copy->dst : std::get<Map>(stmt->node).out;
      const bool is_load = copy && product.tile(copy->src).space == Space::global;
      if (load_of(to) != load) continue;
      if (is_load) operand.load = copy;
      if (product.tile(to).space == Space::shared) {
        operand.shared = to;
        if (!is_load) operand.put = stmt;
      } else if (to == multiplied && !is_load) {
        operand.read = stmt;
      }
    }
    return operand;
  };
  const auto of_columns = [&](const Mma& mma) { return parts.exchanged ? mma.a : mma.b; };
  parts.operands = {steps_of(parts.exchanged ? parts.mma->b : parts.mma->a),
                    steps_of(of_columns(*parts.mma))};
  for (ProductParts::Further& each : parts.further) each.operand = steps_of(of_columns(*each.mma));
  return parts;
}

Product product_of(const Program& program) {
  const ProductParts parts = parts_of(program);
  const auto index = [&](AxisId axis) { return program.axis(axis).indices.front(); };
  const auto load = [&](const ProductParts::Operand& operand) {
    return program.tile(operand.load->src).value;
  };
  Product made{program.tile(parts.mma->out).value,
               index(row_axis),
               index(column_axis),
               index(summed_axis_of(program)),
               {},
               load(parts.operands[0]),
               load(parts.operands[1]),
               parts.sums->parts,
               program.axis(row_axis).segments};
  for (AxisId axis = column_axis + 1; axis < summed_axis_of(program); ++axis)
    made.batch.push_back(index(axis));
  for (const ProductParts::Further& each : parts.further)
    made.further.push_back({program.tile(each.mma->out).value, load(each.operand)});
  return made;
}

int slices_of(const Program& product) {
  const auto extents = leaves(product.threads->layout.shape[0]),
             strides = leaves(product.threads->layout.stride[0]);
  int slices = 1;
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (strides[i].is_basis() && strides[i].path()[0] == summed_axis_of(product))
      slices *= static_cast<int>(extents[i].value().value());
  return slices;
}

}  // namespace lay::tile
