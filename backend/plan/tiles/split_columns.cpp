#include "backend/plan/tiles/split_columns.h"

#include <algorithm>
#include <limits>
#include <set>

#include "backend/plan/recognise.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/kernel/reduce_function.h"

namespace lay::plan {

using namespace sema;

namespace {

class Splitter {
 public:
  Splitter(const Kernel& kernel, int parts) : kernel_(kernel), parts_(parts) {
    for (const Dim& dim : kernel.dims) taken_.insert(dim.name);
    for (const Tensor& tensor : kernel.tensors) taken_.insert(tensor.name);
    for (const Scalar& scalar : kernel.scalars) taken_.insert(scalar.name);
    for (const Index& index : kernel.indices) taken_.insert(index.name);
  }

  std::optional<SplitColumns> run() {
    const auto live = reachable(kernel_);
    for (std::size_t id = 0; id < kernel_.nodes.size(); ++id) {
      const auto* reduce = std::get_if<Reduce>(&kernel_.nodes[id].what);
      if (!live[id] || !reduce) continue;
      const auto below = reachable(kernel_, {reduce->body});
      for (std::size_t n = 0; n < below.size(); ++n)
        if (below[n] && std::holds_alternative<Reduce>(kernel_.nodes[n].what)) return std::nullopt;
      reductions_.push_back(static_cast<NodeId>(id));
    }
    // A row of a part has the indices that every reduction depends on, in the order of the output.
    rows_ = kernel_.assignments.front().indices;
    make_parts();
    make_join();
    made_.parts = std::make_shared<const Kernel>(std::move(parts_kernel_));
    made_.join = std::make_shared<const Kernel>(std::move(join_kernel_));
    return std::move(made_);
  }

 private:
  std::string unused(std::string wish) {
    while (!taken_.insert(wish).second) wish += "_";
    return wish;
  }

  // (part, row...), the parts outermost.
  Tensor workspace_tensor(const Node& node) {
    std::vector<Tuple> shape{Tuple(parts_)};
    for (const IndexId index : rows_) shape.emplace_back(kernel_.index(index).extent);
    const Layout layout = make_layout_right(shape.size() == 1 ? shape[0] : Tuple(shape));
    const Tensor made{unused("parts"), node.type, layout, Access::output, node.where};
    made_.workspace = ceil_div(made_.workspace, workspace_alignment) * workspace_alignment;
    made_.tensors.push_back({made.name, made_.workspace});
    made_.workspace += size(layout) * made.element_bytes();
    return made;
  }

  IndexId add_part_index(Kernel& kernel, bool summed) {
    kernel.indices.push_back({part_name_, Int(parts_), summed, kernel.where});
    return static_cast<IndexId>(kernel.indices.size()) - 1;
  }

  void make_parts() {
    part_name_ = unused("part");
    Kernel& made = parts_kernel_;
    made = kernel_;
    made.schedules.clear();
    made_.part = add_part_index(made, false);
    std::vector<IndexId> at{made_.part};
    at.insert(at.end(), rows_.begin(), rows_.end());
    made.assignments.clear();
    for (const NodeId id : reductions_) {
      std::vector<Tensor>& stored = stored_.emplace_back();
      for (const NodeId value : values_of_part(id)) {
        const auto tensor = static_cast<TensorId>(made.tensors.size());
        stored.push_back(workspace_tensor(made.node(value)));
        made.signature.push_back({false, tensor});
        made.assignments.push_back({tensor, at, value, kernel_.node(id).where});
        made.tensors.push_back(stored.back());
      }
    }
    drop_outputs(made);
  }

  // What a part stores of a reduction: its value, of a condition as 0 and 1; of a position the
  // extreme too.
  std::vector<NodeId> values_of_part(NodeId id) {
    Kernel& made = parts_kernel_;
    const auto& reduce = std::get<Reduce>(kernel_.node(id).what);
    const Span& where = kernel_.node(id).where;
    const ReduceResult result = reduce_row(reduce.function).result;
    if (result == ReduceResult::number) return {id};
    if (result == ReduceResult::condition) {
      const NodeId one = add_integer(made, 1, where), zero = add_integer(made, 0, where);
      return {
          added(made, {Apply{ElementFunction::select, {id, one, zero}}, ElementType::s32, where})};
    }
    const Reduce extreme{extreme_of(reduce.function), reduce.indices, reduce.body};
    return {id, added(made, {extreme, kernel_.node(reduce.body).type, where})};
  }

  static ReduceFunction extreme_of(ReduceFunction position) {
    return position == ReduceFunction::argmax ? ReduceFunction::max : ReduceFunction::min;
  }

  static NodeId added(Kernel& made, Node node) {
    made.nodes.push_back(std::move(node));
    return static_cast<NodeId>(made.nodes.size()) - 1;
  }
  static NodeId add_integer(Kernel& made, std::int64_t value, const Span& where) {
    return added(made, {Literal{value}, ElementType::s32, where});
  }

  // The outputs of the kernel, which the first launch does not write, and what it does not read.
  void drop_outputs(Kernel& made) const {
    const auto live = reachable(made);
    std::set<TensorId> used;
    for (std::size_t id = 0; id < made.nodes.size(); ++id) {
      const auto* load = std::get_if<Load>(&made.nodes[id].what);
      if (live[id] && load) used.insert(load->tensor);
    }
    for (const Assignment& assignment : made.assignments) used.insert(assignment.target);
    std::vector<TensorId> now(made.tensors.size(), 0);
    std::vector<Tensor> left;
    for (const TensorId id : used) {
      now[static_cast<std::size_t>(id)] = static_cast<TensorId>(left.size());
      left.push_back(made.tensor(id));
    }
    made.tensors = std::move(left);
    for (Node& node : made.nodes)
      if (auto* load = std::get_if<Load>(&node.what))
        load->tensor = now[static_cast<std::size_t>(load->tensor)];
    for (Assignment& assignment : made.assignments)
      assignment.target = now[static_cast<std::size_t>(assignment.target)];
    std::erase_if(made.signature, [&](const SignatureEntry& entry) {
      return !entry.is_scalar && !used.contains(entry.id);
    });
    for (SignatureEntry& entry : made.signature)
      if (!entry.is_scalar) entry.id = now[static_cast<std::size_t>(entry.id)];
  }

  // Each reduction over what it is of the parts. Operands keep smaller ids than what uses them.
  void make_join() {
    Kernel& made = join_kernel_;
    made = kernel_;
    made.schedules.clear();
    made.nodes.clear();
    const IndexId part = add_part_index(made, true);
    std::vector<NodeId> now(kernel_.nodes.size(), -1);
    const std::vector<char> live = after_reductions();
    std::size_t which = 0;
    for (std::size_t id = 0; id < kernel_.nodes.size(); ++id) {
      const bool reduces = std::find(reductions_.begin(), reductions_.end(),
                                     static_cast<NodeId>(id)) != reductions_.end();
      const Node& node = kernel_.nodes[id];
      if (reduces) {
        now[id] = join(node, part, loads_of_parts(part, which++, node.where));
      } else if (live[id]) {
        now[id] = added(made, remapped(node, now));
      }
    }
    for (Assignment& assignment : made.assignments)
      assignment.value = now[static_cast<std::size_t>(assignment.value)];
  }

  // What the parts stored of a reduction, as elements of the join.
  std::vector<NodeId> loads_of_parts(IndexId part, std::size_t which, const Span& where) {
    Kernel& made = join_kernel_;
    std::vector<NodeId> loads;
    for (const Tensor& stored : stored_[which]) {
      const auto tensor = static_cast<TensorId>(made.tensors.size());
      made.signature.push_back({false, tensor});
      made.tensors.push_back(stored);
      made.tensors.back().access = Access::input;
      Load load{tensor, {index_node(made, part, where)}};
      for (const IndexId index : rows_) load.coordinate.push_back(index_node(made, index, where));
      loads.push_back(added(made, {load, made.tensors.back().element, where}));
    }
    return loads;
  }

  // The reduction over what it is of the parts. The position of an extreme is the smallest one of
  // those parts that have it: parts are not in the order of the columns.
  NodeId join(const Node& node, IndexId part, const std::vector<NodeId>& loads) {
    Kernel& made = join_kernel_;
    const Span& where = node.where;
    const auto apply = [&](ElementFunction function, std::vector<NodeId> operands,
                           ElementType type = ElementType::pred) {
      return added(made, {Apply{function, std::move(operands)}, type, where});
    };
    using enum ElementFunction;
    Reduce reduce = std::get<Reduce>(node.what);
    const ReduceFunction function = reduce.function;
    const ReduceResult result = reduce_row(function).result;
    reduce.indices = {part};
    reduce.body = loads[0];
    if (result == ReduceResult::condition)
      reduce.body = apply(ne, {loads[0], add_integer(made, 0, where)});
    if (result == ReduceResult::position) {
      const ElementType type = made.node(loads[1]).type;
      const NodeId extreme =
          added(made, {Reduce{extreme_of(function), {part}, loads[1]}, type, where});
      NodeId has = apply(eq, {loads[1], extreme});
      if (is_float(type))
        has = apply(
            or_,
            {has, apply(and_, {apply(ne, {loads[1], loads[1]}), apply(ne, {extreme, extreme})})});
      const NodeId none = add_integer(made, std::numeric_limits<std::int32_t>::max(), where);
      reduce.function = ReduceFunction::min;
      reduce.body = apply(select, {has, loads[0], none}, node.type);
    }
    return added(made, {reduce, node.type, where});
  }

  static NodeId index_node(Kernel& made, IndexId index, const Span& where) {
    return added(made, {IndexValue{index}, ElementType::s64, where});
  }

  // By node: what the assignments need outside of the reductions.
  std::vector<char> after_reductions() const {
    std::vector<NodeId> values;
    for (const Assignment& assignment : kernel_.assignments) values.push_back(assignment.value);
    return reachable_until(kernel_, values, [&](NodeId id) {
      return std::holds_alternative<Reduce>(kernel_.node(id).what);
    });
  }

  const Kernel& kernel_;
  int parts_;
  std::vector<NodeId> reductions_;
  std::vector<std::vector<Tensor>> stored_;  // of each reduction, by the parts
  std::vector<IndexId> rows_;
  std::set<std::string> taken_;
  std::string part_name_;
  Kernel parts_kernel_, join_kernel_;
  SplitColumns made_;
};

}  // namespace

std::optional<SplitColumns> split_columns(const Kernel& kernel, int parts) {
  return Splitter(kernel, parts).run();
}

}  // namespace lay::plan
