#include "backend/plan/launches/kernel_parts.h"

#include <algorithm>

#include "backend/tile/rename_indices.h"
#include "frontend/algebra/support/overloaded.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::plan {

using namespace sema;

NodeId Rebuilding::add_as(const Node& was, NodeId value) {
  if (nodes_[static_cast<std::size_t>(value)].type == was.type) return value;
  return add({Apply{ElementFunction::cast, {value}}, was.type, was.where});
}

NodeId Rebuilding::add_load(const Node& was, TensorId tensor, ElementType element,
                            const std::vector<IndexId>& at) {
  Load load{tensor, {}};
  for (const IndexId index : at)
    load.coordinate.push_back(add({IndexValue{index}, ElementType::s64, was.where}));
  return add_as(was, add({std::move(load), element, was.where}));
}

Kernel rebuilt(const Kernel& kernel, const std::set<NodeId>& at, const Replace& replace) {
  Rebuilding to(kernel);
  for (std::size_t n = 0; n < kernel.nodes.size(); ++n) {
    const auto id = static_cast<NodeId>(n);
    Node node = remapped(kernel.nodes[n], to.now());
    to.is(id, at.contains(id) ? replace(to, id, std::move(node)) : to.add(std::move(node)));
  }
  // Equal nodes become one, and what only the replaced nodes needed goes.
  Kernel made = kernel;
  for (Assignment& assignment : made.assignments) assignment.value = to.now(assignment.value);
  made.nodes = std::move(to).nodes();
  return tile::rename_indices(made, {});
}

namespace {

// Two values side by side.
//
// Both are walked at once. A node met again must stand for the same node as before, and an index
// for the same index, so that X[m,m] is not X[m,n] with other names.
class Comparison {
 public:
  explicit Comparison(const Kernel& kernel) : kernel_(kernel) {}

  bool same(NodeId a, NodeId b) {
    if (const auto known = compared_.find(a); known != compared_.end()) return known->second == b;
    compared_[a] = b;
    const Node &one = kernel_.node(a), &other = kernel_.node(b);
    if (one.type != other.type || one.what.index() != other.what.index()) return false;
    const auto in_one = operands(one), in_other = operands(other);
    // Operands in order: a + b is not b + a here, which misses little and never errs.
    if (in_one.size() != in_other.size()) return false;
    for (std::size_t i = 0; i < in_one.size(); ++i)
      if (!same(in_one[i], in_other[i])) return false;
    return std::visit(
        overloaded{
            [&](const Literal& x) { return x.value == as<Literal>(other).value; },
            [&](const IndexValue& x) { return join(x.index, as<IndexValue>(other).index); },
            [&](const SizeValue& x) { return x.value == as<SizeValue>(other).value; },
            [&](const ScalarValue& x) { return x.scalar == as<ScalarValue>(other).scalar; },
            [&](const Load& x) { return x.tensor == as<Load>(other).tensor; },
            [&](const Reduce& x) { return same(x, as<Reduce>(other)); },
            [&](const Apply& x) { return x.function == as<Apply>(other).function; },
        },
        one.what);
  }

  std::map<IndexId, IndexId> indices() && { return std::move(indices_); }

 private:
  template <class Kind>
  static const Kind& as(const Node& node) {
    return std::get<Kind>(node.what);
  }

  bool same(const Reduce& a, const Reduce& b) {
    if (a.function != b.function || a.indices.size() != b.indices.size()) return false;
    for (std::size_t i = 0; i < a.indices.size(); ++i)
      if (!join(a.indices[i], b.indices[i])) return false;
    return true;
  }

  // Indices correspond one to one: two of one value are two of the other.
  bool join(IndexId a, IndexId b) {
    if (!(kernel_.index(a).extent == kernel_.index(b).extent)) return false;
    const auto [at, fresh] = indices_.emplace(a, b);
    return at->second == b && (!fresh || taken_.insert(b).second);
  }

  const Kernel& kernel_;
  std::map<NodeId, NodeId> compared_;
  std::map<IndexId, IndexId> indices_;
  std::set<IndexId> taken_;
};

}  // namespace

std::optional<std::map<IndexId, IndexId>> same_but_for_indices(const Kernel& kernel, NodeId value,
                                                               NodeId other) {
  Comparison comparison(kernel);
  if (!comparison.same(value, other)) return std::nullopt;
  return std::move(comparison).indices();
}

std::vector<IndexId> in_order_of_outputs(const Kernel& kernel, const std::set<IndexId>& indices) {
  std::vector<IndexId> ordered;
  const auto add = [&](IndexId index) {
    const bool wanted = indices.contains(index);
    if (wanted && std::find(ordered.begin(), ordered.end(), index) == ordered.end())
      ordered.push_back(index);
  };
  for (const Assignment& assignment : kernel.assignments)
    std::for_each(assignment.indices.begin(), assignment.indices.end(), add);
  std::for_each(indices.begin(), indices.end(), add);
  return ordered;
}

}  // namespace lay::plan
