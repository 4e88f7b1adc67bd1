#include "backend/tile/split_indices.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "backend/tile/rename_indices.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

using namespace sema;

namespace {

// The number that a node is, if it is one that does not depend on indices.
std::optional<Int> number(const Kernel& kernel, NodeId id) {
  const Node& node = kernel.node(id);
  if (const auto* literal = std::get_if<Literal>(&node.what))
    if (const auto* integer = std::get_if<std::int64_t>(&literal->value)) return Int(*integer);
  if (const auto* size = std::get_if<SizeValue>(&node.what)) return size->value;
  return std::nullopt;
}

class IndexSplitter {
 public:
  IndexSplitter(const Kernel& kernel, const Facts& facts)
      : kernel_(rename_indices(kernel, {})), facts_(facts) {}

  Kernel run() {
    while (split_one()) {
    }
    return std::move(kernel_);
  }

 private:
  bool split_one() {
    for (std::size_t i = 0; i < kernel_.indices.size(); ++i) {
      const auto index = static_cast<IndexId>(i);
      const auto divisor = divisor_of(index);
      if (!divisor) continue;
      const Int outer = floor_div(kernel_.index(index).extent, *divisor), whole = outer * *divisor;
      const Int& extent = kernel_.index(index).extent;
      if (!(whole == extent) && !facts_.proves(equal(whole, extent))) continue;
      const auto modes = modes_of(index);
      if (!modes) continue;
      split(index, outer, *divisor, *modes);
      return true;
    }
    return false;
  }

  // Returns the index's divisor; nothing if the index is not divided, or is used in another way.
  std::optional<Int> divisor_of(IndexId index) const {
    std::optional<Int> divisor;
    for (const Node& node : kernel_.nodes) {
      if (std::holds_alternative<Load>(node.what)) continue;
      const std::vector<NodeId> inside = operands(node);
      const auto uses = [&](NodeId id) { return bare_index(kernel_, id) == index; };
      if (std::none_of(inside.begin(), inside.end(), uses)) continue;
      const auto* apply = std::get_if<Apply>(&node.what);
      const bool divides =
          apply && !is_float(node.type) &&
          (apply->function == ElementFunction::div || apply->function == ElementFunction::rem);
      if (!divides || !uses(inside[0]) || uses(inside[1])) return std::nullopt;
      const auto by = number(kernel_, inside[1]);
      if (!by || (divisor && !(*divisor == *by))) return std::nullopt;
      divisor = by;
    }
    for (const Assignment& assignment : kernel_.assignments)
      if (bare_index(kernel_, assignment.value) == index) return std::nullopt;
    return divisor;
  }

  // By tensor: the mode whose coordinate the index is, in all accesses to it. Nothing where a
  // tensor has another coordinate there too.
  std::optional<std::map<TensorId, std::size_t>> modes_of(IndexId index) const {
    std::map<TensorId, std::size_t> modes;
    const auto note = [&](TensorId tensor, std::size_t mode) {
      const auto [at, fresh] = modes.emplace(tensor, mode);
      return fresh || at->second == mode;
    };
    for (const Node& node : kernel_.nodes) {
      const auto* load = std::get_if<Load>(&node.what);
      if (!load) continue;
      for (std::size_t mode = 0; mode < load->coordinate.size(); ++mode)
        if (bare_index(kernel_, load->coordinate[mode]) == index && !note(load->tensor, mode))
          return std::nullopt;
    }
    for (const Assignment& assignment : kernel_.assignments)
      for (std::size_t mode = 0; mode < assignment.indices.size(); ++mode)
        if (assignment.indices[mode] == index && !note(assignment.target, mode))
          return std::nullopt;
    const auto fits = [&](TensorId id, std::size_t mode) {
      const Tensor& tensor = kernel_.tensor(id);
      const Layout one = tensor.layout[static_cast<int>(mode)];
      const Int& extent = kernel_.index(index).extent;
      return !tensor.is_swizzled() && one.shape.is_int() &&
             (one.shape.value() == extent || facts_.proves(equal(one.shape.value(), extent)));
    };
    for (const auto& [id, mode] : modes)
      if (!fits(id, mode)) return std::nullopt;
    for (const Node& node : kernel_.nodes) {
      const auto* load = std::get_if<Load>(&node.what);
      const auto known = load ? modes.find(load->tensor) : modes.end();
      if (known != modes.end() && bare_index(kernel_, load->coordinate[known->second]) != index)
        return std::nullopt;
    }
    for (const Assignment& assignment : kernel_.assignments) {
      const auto known = modes.find(assignment.target);
      if (known != modes.end() && assignment.indices[known->second] != index) return std::nullopt;
    }
    return modes;
  }

  // The index stands for the remainder from here on, a new one for the quotient.
  void split(IndexId index, const Int& outer_extent, const Int& divisor,
             const std::map<TensorId, std::size_t>& modes) {
    const Index was = kernel_.index(index);
    const auto outer = static_cast<IndexId>(kernel_.indices.size());
    kernel_.indices.push_back({was.name + "_outer", outer_extent, was.summed, was.where});
    kernel_.indices[static_cast<std::size_t>(index)] = {was.name + "_inner", divisor, was.summed,
                                                        was.where};
    for (const auto& [id, mode] : modes)
      split_mode(kernel_.tensors[static_cast<std::size_t>(id)], mode, outer_extent, divisor);
    // Nodes of the quotient come first, so that operands keep smaller ids.
    std::vector<Node> nodes{{IndexValue{outer}, ElementType::s64, was.where}};
    const auto moved = [](NodeId id) { return id + 1; };
    for (Node node : kernel_.nodes) {
      if (auto* load = std::get_if<Load>(&node.what)) {
        const auto known = modes.find(load->tensor);
        for (NodeId& id : load->coordinate) id = moved(id);
        if (known != modes.end())
          load->coordinate.insert(
              load->coordinate.begin() + static_cast<std::ptrdiff_t>(known->second), 0);
      } else if (auto* reduce = std::get_if<sema::Reduce>(&node.what)) {
        reduce->body = moved(reduce->body);
        const auto at = std::find(reduce->indices.begin(), reduce->indices.end(), index);
        if (at != reduce->indices.end()) reduce->indices.insert(at, outer);
      } else if (auto* apply = std::get_if<Apply>(&node.what)) {
        const bool of_index =
            !apply->operands.empty() && bare_index(kernel_, apply->operands[0]) == index;
        for (NodeId& id : apply->operands) id = moved(id);
        if (of_index)
          node.what = IndexValue{apply->function == ElementFunction::div ? outer : index};
      }
      nodes.push_back(std::move(node));
    }
    kernel_.nodes = std::move(nodes);
    for (Assignment& assignment : kernel_.assignments) {
      assignment.value = moved(assignment.value);
      const auto at = std::find(assignment.indices.begin(), assignment.indices.end(), index);
      if (at != assignment.indices.end()) assignment.indices.insert(at, outer);
    }
    kernel_ = rename_indices(kernel_, {});
  }

  static void split_mode(Tensor& tensor, std::size_t at, const Int& outer, const Int& divisor) {
    std::vector<Tuple> shape, stride;
    for (int mode = 0; mode < tensor.layout.rank(); ++mode) {
      const Layout one = tensor.layout[mode];
      if (static_cast<std::size_t>(mode) == at) {
        shape.emplace_back(outer);
        stride.emplace_back(one.stride.value() * divisor);
        shape.emplace_back(divisor);
        stride.push_back(one.stride);
      } else {
        shape.push_back(one.shape);
        stride.push_back(one.stride);
      }
    }
    tensor.layout = Layout(Tuple(shape), Tuple(stride));
  }

  Kernel kernel_;
  const Facts& facts_;
};

}  // namespace

Kernel split_indices(const Kernel& kernel, const Facts& facts) {
  return IndexSplitter(kernel, facts).run();
}

}  // namespace lay::tile
