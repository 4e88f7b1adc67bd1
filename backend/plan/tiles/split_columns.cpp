#include "backend/plan/tiles/split_columns.h"

#include <algorithm>
#include <limits>

#include "backend/plan/launches/workspace_kernel.h"
#include "backend/plan/recognise.h"
#include "frontend/sema/kernel/reduce_function.h"

namespace lay::plan {

using namespace sema;

namespace {

class Splitter {
 public:
  Splitter(const Kernel& kernel, int parts) : kernel_(kernel), parts_(parts), workspace_(kernel) {}

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
    if (reductions_.empty()) return std::nullopt;
    // A row of a part has the indices that every reduction depends on, in the order of the output.
    rows_ = kernel_.assignments.front().indices;
    make_parts();
    make_join();
    made_.parts = std::make_shared<const Kernel>(std::move(parts_kernel_));
    made_.join = std::make_shared<const Kernel>(std::move(join_kernel_));
    made_.tensors = workspace_.tensors();
    made_.workspace = workspace_.bytes();
    return std::move(made_);
  }

 private:
  IndexId add_part_index(Kernel& kernel, bool summed) {
    kernel.indices.push_back({part_name_, Int(parts_), summed, kernel.where});
    return static_cast<IndexId>(kernel.indices.size()) - 1;
  }

  // (part, row...), the parts outermost.
  std::vector<IndexId> with_part(IndexId part) const {
    std::vector<IndexId> at{part};
    at.insert(at.end(), rows_.begin(), rows_.end());
    return at;
  }

  void make_parts() {
    part_name_ = workspace_.unused("part");
    Kernel& made = parts_kernel_;
    made = kernel_;
    made.schedules.clear();
    made_.part = add_part_index(made, false);
    // One tensor a value, the parts outermost, so that the second launch reads rows of neighbours.
    std::vector<Int> extents;
    for (const IndexId index : with_part(made_.part)) extents.push_back(made.index(index).extent);
    made.assignments.clear();
    for (const NodeId id : reductions_) {
      const Span& where = kernel_.node(id).where;
      std::vector<Tensor>& stored = stored_.emplace_back();
      for (const NodeId value : values_of_part(id)) {
        stored.push_back(workspace_.add("parts", made.node(value).type, extents, where));
        add_output(made, stored.back(), with_part(made_.part), value, where);
      }
    }
    // The outputs of the kernel, which the first launch does not write, and what it does not read.
    drop_unused_tensors(made);
  }

  // Returns the values that a part stores of a reduction: its result, a condition as 0 and 1; a
  // reduction to a position stores the extreme too.
  std::vector<NodeId> values_of_part(NodeId id) {
    Kernel& made = parts_kernel_;
    const auto& reduce = std::get<Reduce>(kernel_.node(id).what);
    const Span& where = kernel_.node(id).where;
    const ReduceResult result = reduce_row(reduce.function).result;
    if (result == ReduceResult::number) return {id};
    if (result == ReduceResult::condition) {
      const NodeId one = add_integer(made, 1, ElementType::s32, where),
                   zero = add_integer(made, 0, ElementType::s32, where);
      return {
          added(made, {Apply{ElementFunction::select, {id, one, zero}}, ElementType::s32, where})};
    }
    const Reduce extreme{extreme_of(reduce.function), reduce.indices, reduce.body};
    return {id, added(made, {extreme, kernel_.node(reduce.body).type, where})};
  }

  static ReduceFunction extreme_of(ReduceFunction position) {
    return position == ReduceFunction::argmax ? ReduceFunction::max : ReduceFunction::min;
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

  // Returns the values that the parts stored of a reduction, as elements of the join.
  std::vector<NodeId> loads_of_parts(IndexId part, std::size_t which, const Span& where) {
    std::vector<NodeId> loads;
    for (const Tensor& stored : stored_[which])
      loads.push_back(add_input(join_kernel_, stored, with_part(part), where));
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
      reduce.body = apply(ne, {loads[0], add_integer(made, 0, ElementType::s32, where)});
    if (result == ReduceResult::position) {
      const ElementType type = made.node(loads[1]).type;
      const NodeId extreme =
          added(made, {Reduce{extreme_of(function), {part}, loads[1]}, type, where});
      NodeId has = apply(eq, {loads[1], extreme});
      if (is_float(type))
        has = apply(
            or_,
            {has, apply(and_, {apply(ne, {loads[1], loads[1]}), apply(ne, {extreme, extreme})})});
      const NodeId none =
          add_integer(made, std::numeric_limits<std::int32_t>::max(), node.type, where);
      reduce.function = ReduceFunction::min;
      reduce.body = apply(select, {has, loads[0], none}, node.type);
    }
    return added(made, {reduce, node.type, where});
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
  Workspace workspace_;
  std::string part_name_;
  Kernel parts_kernel_, join_kernel_;
  SplitColumns made_;
};

}  // namespace

std::optional<SplitColumns> split_columns(const Kernel& kernel, int parts) {
  return Splitter(kernel, parts).run();
}

}  // namespace lay::plan
