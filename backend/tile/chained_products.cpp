#include "backend/tile/chained_products.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "backend/tile/match_indices.h"
#include "backend/tile/online_softmax.h"
#include "backend/tile/reciprocals.h"
#include "backend/tile/rename_indices.h"
#include "backend/tile/verify.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

using sema::Apply;
using sema::IndexId;
using sema::Kernel;
using sema::Node;
using sema::NodeId;

namespace {

using Indices = std::vector<IndexId>;

const sema::Reduce* reduce_at(const Kernel& kernel, NodeId id) {
  return std::get_if<sema::Reduce>(&kernel.node(id).what);
}

const Apply* apply_at(const Kernel& kernel, NodeId id, ElementFunction function) {
  const auto* apply = std::get_if<Apply>(&kernel.node(id).what);
  return apply && apply->function == function ? apply : nullptr;
}

// The two factors of a sum of products in f32 over one index; nothing for any other node.
std::optional<std::array<NodeId, 2>> factors_of(const Kernel& kernel, NodeId id) {
  const sema::Reduce* sum = reduce_at(kernel, id);
  if (!sum || sum->function != sema::ReduceFunction::sum || sum->indices.size() != 1 ||
      kernel.node(id).type != ElementType::f32)
    return std::nullopt;
  const Apply* product = apply_at(kernel, sum->body, ElementFunction::mul);
  if (!product) return std::nullopt;
  return std::array{product->operands[0], product->operands[1]};
}

// The load that a factor is under exact casts, or -1.
NodeId load_of(const Kernel& kernel, NodeId factor) {
  const NodeId id = without_casts(kernel, factor);
  const bool widened = bits(kernel.node(factor).type) >= bits(kernel.node(id).type);
  return widened && std::holds_alternative<sema::Load>(kernel.node(id).what) ? id : -1;
}

// Sums of products of two loads: what scores look like.
bool is_product_of_loads(const Kernel& kernel, NodeId id) {
  const auto factors = factors_of(kernel, id);
  return factors && load_of(kernel, (*factors)[0]) >= 0 && load_of(kernel, (*factors)[1]) >= 0;
}

// A kernel that is copied node by node.
class Copying {
 public:
  explicit Copying(const Kernel& kernel) : now_(kernel.nodes.size(), -1) {}

  NodeId add(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<NodeId>(nodes_.size()) - 1;
  }
  std::vector<NodeId>& now() { return now_; }
  Kernel kernel(const Kernel& of) {
    Kernel made = of;
    made.nodes = std::move(nodes_);
    for (sema::Assignment& assignment : made.assignments)
      assignment.value = now_[static_cast<std::size_t>(assignment.value)];
    return rename_indices(made, {});
  }

 private:
  std::vector<Node> nodes_;
  std::vector<NodeId> now_;
};

// The kernel in which products of two loads sum over an index that nothing else uses: in
//
//   O[i,d] = sum[j](sum[d](Q[i,d] * K[j,d]) * V[j,d])
//
// the inner d is another one than the outputs'.
Kernel with_own_summed_index(const Kernel& kernel) {
  std::set<IndexId> summed;
  for (std::size_t id = 0; id < kernel.nodes.size(); ++id)
    if (is_product_of_loads(kernel, static_cast<NodeId>(id)))
      summed.insert(reduce_at(kernel, static_cast<NodeId>(id))->indices[0]);
  if (summed.size() != 1) return kernel;
  const IndexId old = *summed.begin();
  Kernel from = kernel;
  const auto fresh = static_cast<IndexId>(from.indices.size());
  from.indices.push_back(kernel.index(old));
  from.indices.back().summed = true;
  Copying copy(from);
  for (std::size_t n = 0; n < from.nodes.size(); ++n) {
    const auto id = static_cast<NodeId>(n);
    Node node = sema::remapped(from.nodes[n], copy.now());
    if (is_product_of_loads(from, id)) {
      // The nodes below the sum are copied once more, with the other index.
      std::map<NodeId, NodeId> below;
      const auto renamed = [&](const auto& self, NodeId at) -> NodeId {
        if (const auto known = below.find(at); known != below.end()) return known->second;
        Node inner = from.node(at);
        if (auto* index = std::get_if<sema::IndexValue>(&inner.what)) {
          if (index->index == old) index->index = fresh;
        } else {
          std::vector<NodeId> now(from.nodes.size(), -1);
          for (const NodeId operand : sema::operands(inner))
            now[static_cast<std::size_t>(operand)] = self(self, operand);
          inner = sema::remapped(std::move(inner), now);
        }
        return below[at] = copy.add(std::move(inner));
      };
      const sema::Reduce& sum = *reduce_at(from, id);
      node.what = sema::Reduce{sum.function, {fresh}, renamed(renamed, sum.body)};
    }
    copy.now()[n] = copy.add(std::move(node));
  }
  return copy.kernel(from);
}

class ChainFormer {
 public:
  ChainFormer(const Kernel& kernel, const Facts& facts)
      : facts_(facts), kernel_(with_own_summed_index(rename_indices(kernel, {}))) {}

  std::variant<Program, NotTiled> run() {
    for (const auto step :
         {&ChainFormer::find_result, &ChainFormer::merge_columns, &ChainFormer::choose_row_factors,
          &ChainFormer::divide_once, &ChainFormer::find_sums, &ChainFormer::find_operands,
          &ChainFormer::find_outputs})
      if (auto no = (this->*step)()) return *no;
    build();
    verify_after("form", program_);
    return std::move(program_);
  }

 private:
  using Reason = std::optional<NotTiled>;

  bool depends(NodeId value, NodeId on) const {
    return sema::reachable(kernel_, {value})[static_cast<std::size_t>(on)] != 0;
  }
  bool has(NodeId value, IndexId index) const {
    return free_[static_cast<std::size_t>(value)].contains(index);
  }

  // Finds the outermost sum of products over a tensor and what has another product in it.
  Reason find_result() {
    result_ = scores_ = -1;
    free_ = sema::free_indices(kernel_);
    const auto live = sema::reachable(kernel_);
    for (std::size_t n = 0; n < kernel_.nodes.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      const auto factors = live[n] ? factors_of(kernel_, id) : std::nullopt;
      if (!factors || is_product_of_loads(kernel_, id)) continue;
      for (const int side : {0, 1}) {
        const NodeId value = load_of(kernel_, (*factors)[static_cast<std::size_t>(side)]);
        const NodeId weight = (*factors)[static_cast<std::size_t>(1 - side)];
        const IndexId column = reduce_at(kernel_, id)->indices[0];
        if (value < 0 || !has(weight, column) || !has(value, column)) continue;
        const auto below = sema::reachable(kernel_, {weight});
        for (std::size_t s = 0; s < below.size(); ++s)
          if (below[s] && is_product_of_loads(kernel_, static_cast<NodeId>(s)))
            scores_ = static_cast<NodeId>(s);
        if (scores_ < 0) continue;
        if (result_ >= 0) return NotTiled{"it has several products of a product"};
        result_ = id;
        weight_ = weight;
        value_ = value;
        n_ = column;
      }
    }
    if (result_ < 0) return NotTiled{"no factor of a product is made of another product"};
    return std::nullopt;
  }

  // Reductions over other names of the columns run over those of the result.
  Reason merge_columns() {
    std::map<IndexId, IndexId> to;
    const auto live = sema::reachable(kernel_);
    for (std::size_t n = 0; n < kernel_.nodes.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      const sema::Reduce* reduce = reduce_at(kernel_, id);
      if (!live[n] || !reduce || id == result_ || is_product_of_loads(kernel_, id)) continue;
      if (!match_indices(kernel_, facts_, reduce->indices, {n_}, to))
        return NotTiled{"its reductions run over different extents"};
    }
    for (std::size_t n = 0; n < kernel_.nodes.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      if (!live[n] || !reduce_at(kernel_, id) || is_product_of_loads(kernel_, id)) continue;
      for (const IndexId index : free_[n])
        if (index == n_ || to.contains(index))
          return NotTiled{"a reduction depends on an index that another one runs over"};
    }
    kernel_ = rename_indices(kernel_, to);
    return find_result();
  }

  // The one maximum over the columns that the weights depend on, or -1.
  NodeId maximum_below(NodeId value) const {
    const auto below = sema::reachable(kernel_, {value});
    for (std::size_t n = 0; n < below.size(); ++n) {
      const sema::Reduce* reduce = reduce_at(kernel_, static_cast<NodeId>(n));
      if (below[n] && reduce && reduce->function == sema::ReduceFunction::max)
        return static_cast<NodeId>(n);
    }
    return -1;
  }

  // A weight's factors and divisors that do not depend on the columns, and the weight without them.
  struct Parts {
    NodeId core = -1;
    std::vector<ElementType> casts;  // from the core outwards
    std::vector<std::pair<ElementFunction, NodeId>> of_row;
  };
  Parts parts_of(NodeId weight) const {
    Parts made{weight, {}, {}};
    while (true) {
      const auto* apply = std::get_if<Apply>(&kernel_.node(made.core).what);
      if (!apply) break;
      using enum ElementFunction;
      const auto of_row = [&](std::size_t i) { return !has(apply->operands[i], n_); };
      if (apply->function == cast && is_float(kernel_.node(apply->operands[0]).type)) {
        made.casts.insert(made.casts.begin(), kernel_.node(made.core).type);
        made.core = apply->operands[0];
      } else if ((apply->function == mul || apply->function == div) && of_row(1)) {
        made.of_row.emplace_back(apply->function, apply->operands[1]);
        made.core = apply->operands[0];
      } else if (apply->function == mul && of_row(0)) {
        made.of_row.emplace_back(mul, apply->operands[0]);
        made.core = apply->operands[1];
      } else {
        break;
      }
    }
    return made;
  }

  Reason choose_row_factors() {
    const Parts parts = parts_of(weight_);
    if (parts.of_row.empty()) return std::nullopt;
    const NodeId maximum = maximum_below(parts.core);
    const bool at_most_1 = maximum >= 0 && is_exponential(kernel_, parts.core, maximum);
    const bool narrowed = std::any_of(parts.casts.begin(), parts.casts.end(),
                                      [](ElementType type) { return bits(type) < 32; });
    if (narrowed && !at_most_1) return NotTiled{"its weights are rounded behind a factor of rows"};
    Copying copy(kernel_);
    for (std::size_t n = 0; n < kernel_.nodes.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      Node node = sema::remapped(kernel_.nodes[n], copy.now());
      const auto now = [&](NodeId of) { return copy.now()[static_cast<std::size_t>(of)]; };
      if (id != result_) {
        copy.now()[n] = copy.add(std::move(node));
        continue;
      }
      const auto apply = [&](ElementFunction function, std::vector<NodeId> to, ElementType type) {
        return copy.add({Apply{function, std::move(to)}, type, node.where});
      };
      NodeId weight = now(parts.core);
      for (const ElementType type : parts.casts)
        weight = apply(ElementFunction::cast, {weight}, type);
      const auto factors = *factors_of(kernel_, result_);
      const NodeId value = now(factors[0] == weight_ ? factors[1] : factors[0]);
      const NodeId product = apply(ElementFunction::mul, {weight, value}, ElementType::f32);
      NodeId made = copy.add(
          {sema::Reduce{sema::ReduceFunction::sum, {n_}, product}, ElementType::f32, node.where});
      for (auto [function, of_row] : parts.of_row) {
        NodeId factor = now(of_row);
        if (kernel_.node(of_row).type != ElementType::f32)
          factor = apply(ElementFunction::cast, {factor}, ElementType::f32);
        made = apply(function, {made, factor}, ElementType::f32);
      }
      copy.now()[n] = made;
    }
    kernel_ = copy.kernel(kernel_);
    return find_result();
  }

  // A row's divisor is inverted once, not for each column of the result.
  Reason divide_once() {
    std::vector<IndexId> columns;
    for (const NodeId coordinate : kernel_.load(value_).coordinate)
      if (const IndexId index = sema::bare_index(kernel_, coordinate);
          index >= 0 && index != n_ && !has(weight_, index))
        columns.push_back(index);
    kernel_ = rename_indices(multiply_by_reciprocals(kernel_, columns), {});
    return find_result();
  }

  // The reductions over the columns: a maximum that the others depend on, and sums.
  Reason find_sums() {
    const auto live = sema::reachable(kernel_);
    maximum_ = maximum_below(weight_);
    sums_.clear();
    for (std::size_t n = 0; n < kernel_.nodes.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      const sema::Reduce* reduce = reduce_at(kernel_, id);
      if (!live[n] || !reduce || id == scores_ || id == maximum_) continue;
      if (reduce->function != sema::ReduceFunction::sum ||
          kernel_.node(id).type != ElementType::f32)
        return NotTiled{"it reduces its scores by more than a maximum and sums of f32"};
      if (id != result_) sums_.push_back(id);
      const auto below = sema::reachable(kernel_, {reduce->body});
      for (std::size_t other = 0; other < below.size(); ++other) {
        const auto inner = static_cast<NodeId>(other);
        if (!below[other] || !reduce_at(kernel_, inner) || inner == scores_) continue;
        if (inner != maximum_ || !is_multiple_of_exponential(kernel_, reduce->body, maximum_)) {
          const bool result_fits = id == result_ && inner == maximum_ &&
                                   is_multiple_of_exponential(kernel_, weight_, maximum_);
          if (!result_fits) return NotTiled{"a sum over its columns depends on another reduction"};
        }
      }
    }
    if (maximum_ < 0) return std::nullopt;
    const auto below = sema::reachable(kernel_, {reduce_at(kernel_, maximum_)->body});
    for (std::size_t n = 0; n < below.size(); ++n)
      if (below[n] && reduce_at(kernel_, static_cast<NodeId>(n)) &&
          static_cast<NodeId>(n) != scores_)
        return NotTiled{"its maximum depends on another reduction"};
    return std::nullopt;
  }

  // Returns true if two coordinates of the load are bare indices among these two; all its other
  // coordinates must be of the batch.
  bool walks(NodeId load, IndexId one, IndexId two) const {
    int found = 0;
    for (const NodeId coordinate : kernel_.load(load).coordinate) {
      const IndexId index = sema::bare_index(kernel_, coordinate);
      if (index == one || index == two) {
        ++found;
        continue;
      }
      for (const IndexId inner : free_[static_cast<std::size_t>(coordinate)])
        if (!is_of_batch(inner)) return false;
    }
    return found == 2;
  }
  bool is_of_batch(IndexId index) const {
    return index != m_ && index != n_ && index != d_ && index != e_;
  }

  // The index that a value has and the other ones lack.
  IndexId own_index(NodeId value, const std::set<IndexId>& others) const {
    IndexId own = -1;
    for (const NodeId coordinate : kernel_.load(value).coordinate) {
      const IndexId index = sema::bare_index(kernel_, coordinate);
      if (index < 0 || others.contains(index)) continue;
      if (own >= 0) return -1;
      own = index;
    }
    return own;
  }

  Reason find_operands() {
    const NotTiled no{"its products are not of rows and columns of tensors"};
    d_ = reduce_at(kernel_, scores_)->indices[0];
    const auto factors = *factors_of(kernel_, scores_);
    q_ = load_of(kernel_, factors[0]);
    k_ = load_of(kernel_, factors[1]);
    if (has(q_, n_)) std::swap(q_, k_);
    if (has(q_, n_) || !has(k_, n_)) return no;
    std::set<IndexId> others = free_[static_cast<std::size_t>(k_)];
    others.insert({n_, d_});
    m_ = own_index(q_, others);
    std::set<IndexId> of_weight = free_[static_cast<std::size_t>(weight_)];
    of_weight.insert(n_);
    e_ = own_index(value_, of_weight);
    if (m_ < 0 || e_ < 0 || has(weight_, e_) || has(k_, m_) || has(value_, m_)) return no;
    if (!walks(q_, m_, d_) || !walks(k_, n_, d_) || !walks(value_, n_, e_)) return no;
    const ElementType of_scores = kernel_.loaded(q_).element;
    const ElementType of_result = kernel_.loaded(value_).element;
    const auto is_half = [](ElementType type) {
      return type == ElementType::f16 || type == ElementType::bf16;
    };
    if (kernel_.loaded(k_).element != of_scores || !is_half(of_scores) || !is_half(of_result))
      return NotTiled{"its tensors are not of one type of 16 bits"};
    // The weight as the tensor cores take it.
    held_weight_ = weight_;
    while (kernel_.node(held_weight_).type != of_result) {
      const Apply* cast = apply_at(kernel_, held_weight_, ElementFunction::cast);
      if (!cast) return NotTiled{"its weights are not rounded to the 16 bits of what they meet"};
      held_weight_ = cast->operands[0];
      if (bits(kernel_.node(held_weight_).type) > bits(kernel_.node(weight_).type))
        return NotTiled{"its weights are rounded to another type"};
    }
    for (const sema::Tensor& tensor : kernel_.tensors)
      if (tensor.is_swizzled()) return NotTiled{"a tensor is swizzled in global memory"};
    return std::nullopt;
  }

  Reason find_outputs() {
    for (const sema::Assignment& assignment : kernel_.assignments) {
      std::set<IndexId> batch;
      bool rows = false;
      for (const IndexId index : assignment.indices) {
        if (index == n_ || index == d_) return NotTiled{"an output runs over the columns"};
        rows = rows || index == m_;
        if (is_of_batch(index)) batch.insert(index);
        if (is_of_batch(index) && &assignment == &kernel_.assignments.front())
          batch_.push_back(index);
      }
      if (!rows || batch != std::set<IndexId>(batch_.begin(), batch_.end()))
        return NotTiled{"its outputs have different rows"};
      if (kernel_.tensor(assignment.target).access == sema::Access::inout)
        return NotTiled{"an output is read before it is written"};
    }
    for (const NodeId reduce : {scores_, maximum_, result_}) {
      if (reduce < 0) continue;
      for (const IndexId index : free_[static_cast<std::size_t>(reduce)])
        if (is_of_batch(index) && std::find(batch_.begin(), batch_.end(), index) == batch_.end())
          return NotTiled{"a reduction is over no output's rows"};
    }
    return std::nullopt;
  }

  // ---- the program

  Axis axis(const Indices& indices, const std::string& none) {
    Axis made{"", indices, extent_of_all(kernel_, indices), 0};
    for (const IndexId index : indices)
      made.name += (made.name.empty() ? "" : "_") + kernel_.index(index).name;
    if (indices.empty()) made.name = none;
    while (!names_.insert(made.name).second) made.name += "_";
    return made;
  }

  TileId add(const std::string& wish, NodeId value, std::vector<AxisId> axes, Space space,
             int assignment = -1) {
    std::string name = wish;
    for (int number = 2; !tile_names_.insert(name).second; ++number)
      name = wish + std::to_string(number);
    const ElementType element =
        assignment >= 0
            ? kernel_.tensor(kernel_.assignments[static_cast<std::size_t>(assignment)].target)
                  .element
            : kernel_.node(value).type;
    program_.tiles.push_back({name, element, std::move(axes), space, value, assignment, {}});
    return static_cast<TileId>(program_.tiles.size()) - 1;
  }

  // A tensor's tile on its way to shared memory.
  TileId copy(NodeId load, const std::vector<AxisId>& axes, Block& block) {
    const std::string& name = kernel_.loaded(load).name;
    const TileId from = add(name, load, axes, Space::global);
    const TileId to = add("tile_" + name, load, axes, Space::shared);
    block.push_back({Copy{to, from}});
    return to;
  }

  std::vector<AxisId> with_batch(NodeId load, std::vector<AxisId> axes) const {
    const bool batched =
        std::any_of(batch_.begin(), batch_.end(), [&](IndexId index) { return has(load, index); });
    if (batched) axes.insert(axes.begin(), batch_axis);
    return axes;
  }

  static Stmt loop(AxisId axis, Walk walk, Block body) {
    return {For{axis, walk, std::move(body)}};
  }

  void build() {
    program_.axes = {axis({m_}, "row"), axis({n_}, "column"), axis(batch_, "batch"),
                     axis({d_}, "summed"), axis({e_}, "result")};
    const std::vector<AxisId> of_rows{batch_axis, row_axis};
    const std::vector<AxisId> of_scores{batch_axis, row_axis, column_axis};
    Block body, step;
    const TileId q = copy(q_, with_batch(q_, {row_axis, summed_axis}), body);
    const TileId k = copy(k_, with_batch(k_, {column_axis, summed_axis}), step);
    const TileId scores = add("scores", scores_, of_scores, Space::registers);
    step.push_back({Mma{scores, q, k, summed_axis, {}}});
    const auto map = [&](const std::string& name, NodeId id) {
      if (!mapped_.insert(id).second) return;
      step.push_back({Map{add(name, id, of_scores, Space::registers)}});
    };
    mapped_.insert(scores_);
    const TileId result =
        add("sum", result_, {batch_axis, row_axis, result_axis}, Space::registers);
    std::vector<TileId> sums;
    for (const NodeId sum : sums_) sums.push_back(add("row_sum", sum, of_rows, Space::registers));
    if (maximum_ >= 0) {
      const NodeId x = reduce_at(kernel_, maximum_)->body;
      map("score", x);
      const TileId maximum = add("row_max", maximum_, of_rows, Space::registers);
      std::vector<TileId> rescales;
      for (std::size_t i = 0; i < sums.size(); ++i)
        if (depends(sums_[i], maximum_)) rescales.push_back(sums[i]);
      if (depends(weight_, maximum_)) rescales.push_back(result);
      step.push_back({Reduce{maximum, column_axis, rescales}});
    }
    for (const NodeId sum : sums_) map("term", reduce_at(kernel_, sum)->body);
    for (const TileId sum : sums) step.push_back({Reduce{sum, column_axis, {}}});
    map("term", without_casts(kernel_, held_weight_));
    map("weight", held_weight_);
    const TileId weight = static_cast<TileId>(program_.tiles.size()) - 1;
    const TileId v = copy(value_, with_batch(value_, {column_axis, result_axis}), step);
    step.push_back({Mma{result, weight, v, column_axis, {}}});
    body.push_back(loop(column_axis, Walk::sequence, std::move(step)));
    for (std::size_t i = 0; i < kernel_.assignments.size(); ++i) {
      const sema::Assignment& assignment = kernel_.assignments[i];
      const auto& indices = assignment.indices;
      std::vector<AxisId> axes = of_rows;
      if (std::find(indices.begin(), indices.end(), e_) != indices.end())
        axes.push_back(result_axis);
      const std::string& name = kernel_.tensor(assignment.target).name;
      const int which = static_cast<int>(i);
      const TileId from = add("out_" + name, assignment.value, axes, Space::registers);
      program_.tiles.back().element = kernel_.tensor(assignment.target).element;
      const TileId to = add(name, assignment.value, axes, Space::global, which);
      body.push_back({Map{from}});
      body.push_back({Copy{to, from}});
    }
    program_.kernel = std::make_shared<const Kernel>(kernel_);
    for (const AxisId axis : {result_axis, summed_axis}) {
      Block inner = std::move(body);
      body = {loop(axis, Walk::whole, std::move(inner))};
    }
    Block rows{loop(row_axis, Walk::grid, std::move(body))};
    program_.body = {loop(batch_axis, Walk::grid, std::move(rows))};
  }

  const Facts& facts_;
  Kernel kernel_;
  std::vector<std::set<IndexId>> free_;
  NodeId result_ = -1, scores_ = -1, weight_ = -1, value_ = -1, q_ = -1, k_ = -1, maximum_ = -1;
  NodeId held_weight_ = -1;   // the weight in the 16 bits of what it is multiplied with
  std::vector<NodeId> sums_;  // over the columns
  IndexId m_ = -1, n_ = -1, d_ = -1, e_ = -1;
  Indices batch_;
  Program program_;
  std::set<std::string> names_, tile_names_;
  std::set<NodeId> mapped_;
};

}  // namespace

std::variant<Program, NotTiled> form_chained_products(const Kernel& kernel, const Facts& facts) {
  return ChainFormer(kernel, facts).run();
}

ChainedProducts chained_products_of(const Program& program) {
  ChainedProducts made;
  for_each(program.body, [&](const Stmt& stmt) {
    if (const auto* mma = std::get_if<Mma>(&stmt.node)) {
      (made.scores ? made.result : made.scores) = mma;
    } else if (const auto* reduce = std::get_if<Reduce>(&stmt.node)) {
      if (reduce->rescales.empty())
        made.sums.push_back(reduce);
      else
        made.maximum = reduce;
    } else if (const auto* map = std::get_if<Map>(&stmt.node)) {
      const auto& axes = program.tile(map->out).axes;
      if (std::find(axes.begin(), axes.end(), column_axis) == axes.end()) return;
      (made.maximum ? made.after : made.before).push_back(map);
    }
  });
  return made;
}

}  // namespace lay::tile
