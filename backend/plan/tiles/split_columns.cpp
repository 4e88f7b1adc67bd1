#include "backend/plan/tiles/split_columns.h"

#include <algorithm>
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
      if (reduce_row(reduce->function).result != ReduceResult::number) return std::nullopt;
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
  Tensor workspace_tensor(NodeId reduction) {
    const Node& node = kernel_.node(reduction);
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
      made.signature.push_back({false, static_cast<int>(made.tensors.size())});
      made.assignments.push_back(
          {static_cast<TensorId>(made.tensors.size()), at, id, kernel_.node(id).where});
      made.tensors.push_back(workspace_tensor(id));
    }
    drop_outputs(made);
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
      Node node = kernel_.nodes[id];
      if (reduces) {
        const auto tensor = static_cast<TensorId>(made.tensors.size());
        made.signature.push_back({false, tensor});
        made.tensors.push_back(parts_kernel_.tensor(parts_kernel_.assignments[which++].target));
        made.tensors.back().access = Access::input;
        Load load{tensor, {index_node(made, part, node.where)}};
        for (const IndexId index : rows_)
          load.coordinate.push_back(index_node(made, index, node.where));
        made.nodes.push_back({load, node.type, node.where});
        auto& reduce = std::get<Reduce>(node.what);
        reduce.indices = {part};
        reduce.body = static_cast<NodeId>(made.nodes.size()) - 1;
      } else if (live[id]) {
        node = remapped(std::move(node), now);
      } else {
        continue;
      }
      now[id] = static_cast<NodeId>(made.nodes.size());
      made.nodes.push_back(std::move(node));
    }
    for (Assignment& assignment : made.assignments)
      assignment.value = now[static_cast<std::size_t>(assignment.value)];
  }

  static NodeId index_node(Kernel& made, IndexId index, const Span& where) {
    made.nodes.push_back({IndexValue{index}, ElementType::s64, where});
    return static_cast<NodeId>(made.nodes.size()) - 1;
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
