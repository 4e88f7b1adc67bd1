#include "backend/tile/coalesce_indices.h"

#include <algorithm>
#include <map>
#include <optional>

#include "backend/tile/rename_indices.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/kernel/kernel_walk.h"
#include "frontend/sema/kernel/reduce_function.h"

namespace lay::tile {

using namespace sema;

namespace {

using Indices = std::vector<IndexId>;

std::optional<std::size_t> place(const Indices& indices, IndexId index) {
  const auto at = std::find(indices.begin(), indices.end(), index);
  if (at == indices.end()) return std::nullopt;
  return static_cast<std::size_t>(at - indices.begin());
}

// A tensor as it is read or written at one place of the kernel: an index for each mode, -1 for a
// coordinate that is none.
struct Access {
  TensorId tensor;
  Indices indices;
};

class Coalescer {
 public:
  Coalescer(Kernel kernel, const Facts& facts, IndexId fixed, bool quotients)
      : kernel_(std::move(kernel)), facts_(facts), fixed_(fixed), quotients_(quotients) {}

  Kernel run() {
    while (merge_one()) {
    }
    return std::move(kernel_);
  }

 private:
  std::vector<Access> accesses() const {
    std::vector<Access> found;
    const auto live = reachable(kernel_);
    for (std::size_t id = 0; id < kernel_.nodes.size(); ++id) {
      const auto* load = std::get_if<Load>(&kernel_.nodes[id].what);
      if (!live[id] || !load) continue;
      Access access{load->tensor, {}};
      for (const NodeId coordinate : load->coordinate)
        access.indices.push_back(bare_index(kernel_, coordinate));
      found.push_back(std::move(access));
    }
    for (const Assignment& assignment : kernel_.assignments)
      found.push_back({assignment.target, assignment.indices});
    return found;
  }

  // Indices whose value is more than a coordinate.
  std::vector<char> used_as_values() const {
    std::vector<char> used(kernel_.indices.size(), 0);
    const auto live = reachable(kernel_);
    const auto use = [&](NodeId id) {
      const IndexId index = bare_index(kernel_, id);
      if (index >= 0) used[static_cast<std::size_t>(index)] = 1;
    };
    for (std::size_t id = 0; id < kernel_.nodes.size(); ++id) {
      const Node& node = kernel_.nodes[id];
      if (!live[id] || std::holds_alternative<Load>(node.what)) continue;
      for (const NodeId operand : operands(node)) use(operand);
      const auto* reduce = std::get_if<sema::Reduce>(&node.what);
      if (reduce && reduce_row(reduce->function).result == ReduceResult::position)
        used[static_cast<std::size_t>(reduce->indices[0])] = 1;
    }
    for (const Assignment& assignment : kernel_.assignments) use(assignment.value);
    if (fixed_ >= 0) used[static_cast<std::size_t>(fixed_)] = 1;
    return used;
  }

  bool merge_one() {
    const std::vector<Access> all = accesses();
    const std::vector<char> used = used_as_values();
    for (const Access& access : all) {
      for (const IndexId outer : access.indices) {
        for (const IndexId inner : access.indices) {
          if (outer < 0 || inner < 0 || outer == inner) continue;
          if (used[static_cast<std::size_t>(outer)] || used[static_cast<std::size_t>(inner)])
            continue;
          if (!go_together(all, outer, inner)) continue;
          merge(outer, inner, all);
          return true;
        }
      }
    }
    return false;
  }

  // Returns true if the outer index may become a quotient in this access, which lacks the inner
  // one: a load that lacks an index of the kernel's sum. An operand of the sum that has only the
  // outer index is another batch or another group of heads.
  bool takes_quotient(const Access& access, IndexId inner) const {
    if (!quotients_ || kernel_.tensor(access.tensor).access != sema::Access::input) return false;
    const Int& extent = kernel_.index(inner).extent;
    if (!extent.is_literal() && !extent.dim_id()) return false;
    bool found = false, lacks = false;
    for (const Node& node : kernel_.nodes) {
      const auto* reduce = std::get_if<sema::Reduce>(&node.what);
      if (!reduce) continue;
      if (found) return false;  // several sums: which one it is a scale of is not asked
      found = true;
      lacks = std::any_of(reduce->indices.begin(), reduce->indices.end(),
                          [&](IndexId index) { return !place(access.indices, index); });
    }
    return lacks;
  }

  bool go_together(const std::vector<Access>& all, IndexId outer, IndexId inner) const {
    std::map<TensorId, std::pair<std::size_t, std::size_t>> modes;
    for (const Access& access : all) {
      const auto p = place(access.indices, outer), q = place(access.indices, inner);
      if (p && !q && takes_quotient(access, inner)) continue;
      if (p.has_value() != q.has_value()) return false;
      if (!p) continue;
      if (std::count(access.indices.begin(), access.indices.end(), outer) > 1 ||
          std::count(access.indices.begin(), access.indices.end(), inner) > 1)
        return false;
      const Tensor& tensor = kernel_.tensor(access.tensor);
      if (!are_side_by_side(facts_, tensor, *p, *q, kernel_.index(inner).extent)) return false;
      modes[access.tensor] = {*p, *q};
    }
    // Another access to such a tensor would need its modes as they are.
    for (const Access& access : all) {
      const auto known = modes.find(access.tensor);
      if (known == modes.end()) continue;
      const auto [p, q] = known->second;
      if (access.indices[p] != outer || access.indices[q] != inner) return false;
    }
    const auto both_or_none = [&](const Indices& indices) {
      return place(indices, outer).has_value() == place(indices, inner).has_value();
    };
    for (const Node& node : kernel_.nodes) {
      const auto* reduce = std::get_if<sema::Reduce>(&node.what);
      if (reduce && !both_or_none(reduce->indices)) return false;
    }
    return std::all_of(kernel_.assignments.begin(), kernel_.assignments.end(),
                       [&](const Assignment& a) { return both_or_none(a.indices); });
  }

  // The inner index stands for both, under a name of both.
  void merge(IndexId outer, IndexId inner, const std::vector<Access>& all) {
    std::map<TensorId, std::pair<std::size_t, std::size_t>> modes;
    for (const Access& access : all)
      if (const auto p = place(access.indices, outer), q = place(access.indices, inner); p && q)
        modes[access.tensor] = {*p, *q};
    Index& both = kernel_.indices[static_cast<std::size_t>(inner)];
    const Index& first = kernel_.index(outer);
    both.name = first.name + "_" + both.name;
    const Int inner_extent = both.extent;
    both.extent = first.extent * both.extent;
    for (const auto& [id, at] : modes) {
      Tensor& tensor = kernel_.tensors[static_cast<std::size_t>(id)];
      std::vector<Tuple> shape, stride;
      for (int mode = 0; mode < tensor.layout.rank(); ++mode) {
        const auto m = static_cast<std::size_t>(mode);
        if (m == at.first) continue;
        const Layout one = tensor.layout[mode];
        shape.push_back(m == at.second ? Tuple(both.extent) : one.shape);
        stride.push_back(one.stride);
      }
      tensor.layout =
          shape.size() == 1 ? Layout(shape[0], stride[0]) : Layout(Tuple(shape), Tuple(stride));
    }
    const auto drop = [&](auto& list, std::size_t at) {
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    };
    for (Node& node : kernel_.nodes) {
      if (auto* load = std::get_if<Load>(&node.what)) {
        const auto known = modes.find(load->tensor);
        if (known != modes.end() && load->coordinate.size() > known->second.first)
          drop(load->coordinate, known->second.first);
      } else if (auto* reduce = std::get_if<sema::Reduce>(&node.what)) {
        if (const auto at = place(reduce->indices, outer)) drop(reduce->indices, *at);
      }
    }
    for (Assignment& assignment : kernel_.assignments)
      if (const auto at = place(assignment.indices, outer)) drop(assignment.indices, *at);
    if (quotients_) replace_by_quotient(outer, inner, inner_extent);
    kernel_ = rename_indices(kernel_, {});
  }

  // Replaces what is left of the outer index by the quotient of the inner one, which is both now.
  void replace_by_quotient(IndexId outer, IndexId inner, const Int& divisor) {
    const Span where = kernel_.index(inner).where;
    const auto number = [&]() -> Node {
      if (divisor.is_literal()) return {Literal{divisor.value()}, ElementType::s64, where};
      return {SizeValue{divisor}, ElementType::s64, where};
    };
    // They come first, so that operands keep smaller ids.
    std::vector<Node> nodes{{IndexValue{inner}, ElementType::s64, where},
                            number(),
                            {Apply{ElementFunction::div, {0, 1}}, ElementType::s64, where}};
    std::vector<NodeId> now(kernel_.nodes.size(), -1);
    for (std::size_t id = 0; id < kernel_.nodes.size(); ++id) {
      constexpr NodeId quotient = 2;
      const auto* value = std::get_if<IndexValue>(&kernel_.nodes[id].what);
      now[id] = value && value->index == outer ? quotient : static_cast<NodeId>(nodes.size());
      if (now[id] != quotient) nodes.push_back(remapped(kernel_.nodes[id], now));
    }
    kernel_.nodes = std::move(nodes);
    for (Assignment& assignment : kernel_.assignments)
      assignment.value = now[static_cast<std::size_t>(assignment.value)];
  }

  Kernel kernel_;
  const Facts& facts_;
  IndexId fixed_;
  bool quotients_;  // of outer indices that stand alone
};

}  // namespace

bool are_side_by_side(const Facts& facts, const Tensor& tensor, std::size_t p, std::size_t q,
                      const Int& extent) {
  const Layout a = tensor.layout[static_cast<int>(p)], b = tensor.layout[static_cast<int>(q)];
  if (tensor.is_swizzled() || !a.shape.is_int() || !b.shape.is_int()) return false;
  const auto same = [&](const Int& x, const Int& y) { return x == y || facts.proves(equal(x, y)); };
  return same(b.shape.value(), extent) && same(a.stride.value(), b.stride.value() * extent);
}

Kernel coalesce_indices(const Kernel& kernel, const Facts& facts, IndexId fixed) {
  // Without nodes that nothing needs, every load is an access.
  return Coalescer(rename_indices(kernel, {}), facts, fixed, false).run();
}

Kernel coalesce_with_quotients(const Kernel& kernel, const Facts& facts) {
  return Coalescer(rename_indices(kernel, {}), facts, -1, true).run();
}

}  // namespace lay::tile
