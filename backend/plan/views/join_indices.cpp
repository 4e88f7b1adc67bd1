#include "backend/plan/views/join_indices.h"

#include <algorithm>
#include <map>

#include "backend/tile/coalesce_indices.h"
#include "backend/tile/rename_indices.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::plan {

using namespace sema;

namespace {

class Joiner {
 public:
  Joiner(const Kernel& kernel, const std::vector<IndexId>& indices,
         const std::set<NodeId>& operands, const Facts& facts)
      : kernel_(kernel), indices_(indices), operands_(operands), facts_(facts) {}

  std::optional<Kernel> run() {
    find_joined_tensors();
    // An output that is read in another way too cannot have other modes.
    for (const Assignment& assignment : kernel_.assignments)
      if (has_any(assignment) && !joined_.at(static_cast<std::size_t>(assignment.target)))
        return std::nullopt;
    // The one index has the id of the last, the names of all, and as many values as they together:
    // (n,p,q) of 2 x 5 x 7 become n_p_q of 70.
    Kernel made = kernel_;
    const IndexId one = indices_.back();
    Index& flat = made.indices[static_cast<std::size_t>(one)];
    flat.name.clear();
    flat.extent = 1;
    for (const IndexId index : indices_) {
      flat.name += (flat.name.empty() ? "" : "_") + kernel_.index(index).name;
      flat.extent *= kernel_.index(index).extent;
    }
    for (std::size_t id = 0; id < made.tensors.size(); ++id) {
      if (const auto at = joined_.at(id)) join_modes(made.tensors[id], *at, flat.extent);
    }
    rebuild(made);
    for (Assignment& assignment : made.assignments) {
      const auto at = joined_.at(static_cast<std::size_t>(assignment.target));
      if (at) join_list(assignment.indices, *at, one);
    }
    return tile::rename_indices(made, {});
  }

 private:
  bool has_any(const Assignment& assignment) const {
    return std::find_first_of(assignment.indices.begin(), assignment.indices.end(),
                              indices_.begin(), indices_.end()) != assignment.indices.end();
  }

  // The place of the first of the indices where they stand one behind the other as the tensor holds
  // them side by side, each a plain mode.
  std::optional<std::size_t> first_mode(const Tensor& tensor,
                                        const std::vector<IndexId>& at) const {
    const auto found = std::search(at.begin(), at.end(), indices_.begin(), indices_.end());
    if (found == at.end()) return std::nullopt;
    const auto first = static_cast<std::size_t>(found - at.begin());
    for (std::size_t i = 0; i + 1 < indices_.size(); ++i) {
      const Int& extent = kernel_.index(indices_[i + 1]).extent;
      if (!tile::are_side_by_side(facts_, tensor, first + i, first + i + 1, extent))
        return std::nullopt;
    }
    return first;
  }

  // A tensor may be read at bare indices in one place and elsewhere in another, as
  // Z[n,p,q] + Z[n,0,0]: then it keeps its modes, and both places have quotients.
  // By tensor, the first of the modes that become one: the same wherever it is read or written.
  void find_joined_tensors() {
    joined_.assign(kernel_.tensors.size(), std::nullopt);
    std::vector<char> seen(kernel_.tensors.size(), 0), apart(kernel_.tensors.size(), 0);
    const auto note = [&](TensorId tensor, const std::vector<IndexId>& at, bool may) {
      const auto id = static_cast<std::size_t>(tensor);
      const auto first = may ? first_mode(kernel_.tensor(tensor), at) : std::nullopt;
      if (!first || (seen[id] && joined_[id] != first)) apart[id] = 1;
      joined_[id] = first;
      seen[id] = 1;
    };
    const auto live = reachable(kernel_);
    for (std::size_t id = 0; id < kernel_.nodes.size(); ++id) {
      const auto* load = std::get_if<Load>(&kernel_.nodes[id].what);
      if (!live[id] || !load) continue;
      std::vector<IndexId> at;
      for (const NodeId coordinate : load->coordinate)
        at.push_back(bare_index(kernel_, coordinate));
      note(load->tensor, at, !operands_.contains(static_cast<NodeId>(id)));
    }
    for (const Assignment& assignment : kernel_.assignments)
      note(assignment.target, assignment.indices, true);
    for (std::size_t id = 0; id < joined_.size(); ++id)
      if (apart[id]) joined_[id].reset();
  }

  // (n,p,q,f) of strides (35*F,7*F,F,1) becomes (n_p_q,f) of strides (F,1).
  void join_modes(Tensor& tensor, std::size_t first, const Int& extent) const {
    std::vector<Tuple> shape, stride;
    for (int mode = 0; mode < tensor.layout.rank(); ++mode) {
      const auto m = static_cast<std::size_t>(mode), last = first + indices_.size() - 1;
      if (m >= first && m < last) continue;
      const Layout one = tensor.layout[mode];
      shape.push_back(m == last ? Tuple(extent) : one.shape);
      stride.push_back(one.stride);
    }
    tensor.layout =
        shape.size() == 1 ? Layout(shape[0], stride[0]) : Layout(Tuple(shape), Tuple(stride));
  }

  // The same of what stands at the modes: indices of an output, coordinates of a load.
  template <class Id>
  void join_list(std::vector<Id>& list, std::size_t first, Id one) const {
    const auto at = list.begin() + static_cast<std::ptrdiff_t>(first);
    list.erase(at, at + static_cast<std::ptrdiff_t>(indices_.size()));
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(first), one);
  }

  // The nodes again, each index of the list a digit of the one. Digits come first, so that operands
  // have smaller ids.
  void rebuild(Kernel& made) const {
    const IndexId one = indices_.back();
    const Span where = kernel_.index(one).where;
    made.nodes.clear();
    const auto add = [&](decltype(Node::what) what) {
      made.nodes.push_back({std::move(what), ElementType::s64, where});
      return static_cast<NodeId>(made.nodes.size()) - 1;
    };
    const auto number = [&](const Int& value) {
      return value.is_literal() ? add(Literal{value.value()}) : add(SizeValue{value});
    };
    const NodeId flat = add(IndexValue{one});
    std::map<IndexId, NodeId> digits;
    // From the fastest on: q = x % 7, p = x // 7 % 5, n = x // 35.
    Int below = 1;
    for (std::size_t i = indices_.size(); i-- > 0;) {
      NodeId digit = flat;
      if (!below.is(1)) digit = add(Apply{ElementFunction::div, {digit, number(below)}});
      const Int& extent = kernel_.index(indices_[i]).extent;
      if (i > 0) digit = add(Apply{ElementFunction::rem, {digit, number(extent)}});
      digits[indices_[i]] = digit;
      below *= extent;
    }
    std::vector<NodeId> now(kernel_.nodes.size(), -1);
    for (std::size_t id = 0; id < kernel_.nodes.size(); ++id) {
      const auto* value = std::get_if<IndexValue>(&kernel_.nodes[id].what);
      const auto digit = value ? digits.find(value->index) : digits.end();
      if (digit != digits.end()) {
        now[id] = digit->second;
        continue;
      }
      Node node = remapped(kernel_.nodes[id], now);
      if (auto* load = std::get_if<Load>(&node.what)) {
        const auto at = joined_.at(static_cast<std::size_t>(load->tensor));
        if (at) join_list(load->coordinate, *at, flat);
      } else if (auto* reduce = std::get_if<Reduce>(&node.what)) {
        join_summed(reduce->indices);
      }
      now[id] = static_cast<NodeId>(made.nodes.size());
      made.nodes.push_back(std::move(node));
    }
    for (Assignment& assignment : made.assignments)
      assignment.value = now[static_cast<std::size_t>(assignment.value)];
  }

  // A sum has all of them or none.
  void join_summed(std::vector<IndexId>& summed) const {
    const auto is_one_of = [&](IndexId index) {
      return std::find(indices_.begin(), indices_.end(), index) != indices_.end();
    };
    if (std::none_of(summed.begin(), summed.end(), is_one_of)) return;
    std::erase_if(summed, is_one_of);
    summed.push_back(indices_.back());
  }

  const Kernel& kernel_;
  const std::vector<IndexId>& indices_;
  const std::set<NodeId>& operands_;
  const Facts& facts_;
  std::vector<std::optional<std::size_t>> joined_;
};

}  // namespace

std::optional<Kernel> with_indices_joined(const Kernel& kernel, const std::vector<IndexId>& indices,
                                          const std::set<NodeId>& operands, const Facts& facts) {
  if (indices.size() < 2) return kernel;
  return Joiner(kernel, indices, operands, facts).run();
}

}  // namespace lay::plan
