#include "backend/plan/permute/permute_form.h"

#include <algorithm>

#include "backend/plan/recognise.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/refusal.h"

namespace lay::plan {

using namespace sema;

namespace {

const Node& node_of(const Kernel& kernel, NodeId id) {
  return kernel.node(id);
}

// A number that is the same at every element, where it is one.
std::optional<Int> constant(const Kernel& kernel, NodeId id) {
  const auto& what = node_of(kernel, id).what;
  if (const auto* size = std::get_if<SizeValue>(&what)) return size->value;
  const auto* literal = std::get_if<Literal>(&what);
  const auto* integer = literal ? std::get_if<std::int64_t>(&literal->value) : nullptr;
  return integer ? std::optional<Int>(*integer) : std::nullopt;
}

// The amount that a step of the index adds to each node; nothing where that is not one number.
using Coefficients = std::vector<std::optional<Int>>;

// The same of an operation, from those of its operands.
std::optional<Int> coefficient(const Kernel& kernel, const Node& node, const Coefficients& known) {
  const auto taken = operands(node);
  const auto part = [&](std::size_t i) { return known[static_cast<std::size_t>(taken[i])]; };
  // An operation of operands that do not depend on the index does not depend on it either, whatever
  // it is; otherwise only sums, differences and products by constants are linear.
  bool still = true, sums = true;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    still = still && part(i) && part(i)->is(0);
    sums = sums && part(i);
  }
  if (still) return Int(0);
  const auto* apply = std::get_if<Apply>(&node.what);
  if (!apply || !sums || is_float(node.type)) return std::nullopt;
  switch (apply->function) {
    case ElementFunction::add:
      return *part(0) + *part(1);
    case ElementFunction::sub:
      return *part(0) - *part(1);
    case ElementFunction::neg:
      return -*part(0);
    case ElementFunction::cast:
      return is_float(node.type) ? std::nullopt : part(0);
    case ElementFunction::mul:
      // (2 * i) and (i * 2).
      for (std::size_t side = 0; side < 2; ++side) {
        if (auto factor = constant(kernel, taken[1 - side])) return *part(side) * *factor;
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// Operands have smaller ids, so that one pass does.
Coefficients coefficients(const Kernel& kernel, IndexId index) {
  Coefficients result;
  for (const Node& node : kernel.nodes) {
    const auto* value = std::get_if<IndexValue>(&node.what);
    try {
      result.push_back(value ? Int(value->index == index ? 1 : 0)
                             : coefficient(kernel, node, result));
    } catch (const Refusal&) {  // it needs more than 64 bits
      result.emplace_back();
    }
  }
  return result;
}

// The leaves of a mode, merged where they run on.
// (4,8):(1,4) is one leaf 32:1; (8,M):(1,512) stays two.
std::vector<std::pair<Int, Int>> leaves_of(Facts& facts, const Layout& mode) {
  const Layout merged = coalesce(facts, mode);
  const auto extents = leaves(merged.shape), strides = leaves(merged.stride);
  std::vector<std::pair<Int, Int>> result;
  for (std::size_t i = 0; i < extents.size(); ++i)
    result.emplace_back(extents[i].value(), strides[i].value());
  return result;
}

bool certainly_less(const Facts& facts, const Int& a, const Int& b) {
  if (a == b) return false;
  if (a.is_literal() && b.is_literal()) return a.value() < b.value();
  return facts.proves(less_equal(a, b));
}

// The smallest strides first, 0 last; where the facts decide nothing, as they come.
// Insertion sort by a partial order: M and 4096 are not compared, and keep their places.
void sort_by_memory(const Facts& facts, std::vector<AffineAccess::Leaf>& leaves) {
  for (std::size_t i = 1; i < leaves.size(); ++i) {
    for (std::size_t j = i; j > 0; --j) {
      const Int &left = leaves[j - 1].stride, &here = leaves[j].stride;
      if (here.is(0) || !(left.is(0) || certainly_less(facts, here, left))) break;
      std::swap(leaves[j - 1], leaves[j]);
    }
  }
}

// A tensor at coordinates: bare indices (`index_at(mode)`), or nodes that are sums of them.
class AccessFinder {
 public:
  AccessFinder(const Kernel& kernel, Facts& facts, const std::vector<IndexId>& indices)
      : kernel_(kernel), facts_(facts), indices_(indices) {
    for (IndexId index : indices) by_.push_back(coefficients(kernel, index));
  }

  AffineAccess output(const Assignment& assignment) {
    AffineAccess way = begin(assignment.target);
    for (std::size_t mode = 0; mode < assignment.indices.size(); ++mode) {
      bare(way, static_cast<int>(mode), assignment.indices[mode]);
    }
    return done(std::move(way));
  }

  // Nothing if a coordinate is no sum of indices.
  std::optional<AffineAccess> input(const Load& load) {
    AffineAccess way = begin(load.tensor);
    for (std::size_t mode = 0; mode < load.coordinate.size(); ++mode) {
      const IndexId index = bare_index(kernel_, load.coordinate[mode]);
      if (index >= 0) {
        bare(way, static_cast<int>(mode), index);
      } else if (!sum(way, static_cast<int>(mode), load.coordinate[mode])) {
        return std::nullopt;
      }
    }
    return done(std::move(way));
  }

 private:
  AffineAccess begin(TensorId tensor) {
    modes_of_.clear();
    AffineAccess way;
    way.tensor = tensor;
    return way;
  }
  const Layout& layout(const AffineAccess& way) const { return kernel_.tensor(way.tensor).layout; }
  int axis_of(IndexId index) const {
    return static_cast<int>(std::find(indices_.begin(), indices_.end(), index) - indices_.begin());
  }

  void bare(AffineAccess& way, int mode, IndexId index) {
    Int step = 1;
    modes_of_.push_back(axis_of(index));
    // One index through a nested mode: (8,16):(1,512) has the leaf of 8 with step 1, stride 1, and
    // the leaf of 16 with step 8, stride 512.
    for (const auto& [extent, stride] : leaves_of(facts_, layout(way)[mode])) {
      way.leaves.push_back({axis_of(index), extent, step, stride});
      if (step.is(1) && stride.is(1) && !(way.bare && way.mode >= 0)) {
        way.mode = mode;
        way.run_axis = axis_of(index);
        way.bare = true;
      }
      step *= extent;
    }
  }

  // Each index that a sum depends on is one leaf.
  // X[i + 2 * j]: coefficient 1 along i and 2 along j, times the mode's stride. Modes of several
  // leaves are not linear in a sum, and modes[0] is then an approximation that only steers the
  // tile.
  bool sum(AffineAccess& way, int mode, NodeId coordinate) {
    const auto modes = leaves_of(facts_, layout(way)[mode]);
    for (std::size_t axis = 0; axis < indices_.size(); ++axis) {
      const auto& by = by_[axis][static_cast<std::size_t>(coordinate)];
      if (!by) return false;
      if (by->is(0)) continue;
      modes_of_.push_back(static_cast<int>(axis));
      const Int stride = *by * modes[0].second;
      way.leaves.push_back({static_cast<int>(axis),
                            kernel_.indices[static_cast<std::size_t>(indices_[axis])].extent, 1,
                            stride});
      if (stride.is(1) && way.mode < 0) {
        way.mode = mode;
        way.run_axis = static_cast<int>(axis);
      }
    }
    return true;
  }

  AffineAccess done(AffineAccess way) {
    // An index in two coordinates moves through both at once: X[i,i].
    if (std::count(modes_of_.begin(), modes_of_.end(), way.run_axis) > 1) {
      way.mode = way.run_axis = -1;
      way.bare = false;
    }
    std::erase_if(way.leaves, [](const AffineAccess::Leaf& leaf) { return leaf.extent.is(1); });
    sort_by_memory(facts_, way.leaves);
    return way;
  }

  const Kernel& kernel_;
  Facts& facts_;
  const std::vector<IndexId>& indices_;
  std::vector<Coefficients> by_;  // by axis
  std::vector<int> modes_of_;     // the axis of every coordinate's every index
};

// The nodes that are evaluated at every element: all but the arms of selections and what `and` and
// `or` may skip.
std::vector<char> always(const Kernel& kernel) {
  std::vector<char> seen(kernel.nodes.size(), 0);
  for (const Assignment& assignment : kernel.assignments)
    seen[static_cast<std::size_t>(assignment.value)] = 1;
  for (std::size_t id = kernel.nodes.size(); id-- > 0;) {
    if (!seen[id]) continue;
    auto taken = operands(kernel.nodes[id]);
    if (const auto* apply = std::get_if<Apply>(&kernel.nodes[id].what)) {
      // Elements that an arm reads may be outside the tensor where the arm is not taken, so they
      // are not read ahead.
      const bool first_only = apply->function == ElementFunction::select ||
                              apply->function == ElementFunction::and_ ||
                              apply->function == ElementFunction::or_;
      if (first_only) taken.resize(1);
    }
    for (NodeId operand : taken) seen[static_cast<std::size_t>(operand)] = 1;
  }
  return seen;
}

bool same_indices(const Kernel& kernel) {
  const auto sorted = [](std::vector<IndexId> indices) {
    std::sort(indices.begin(), indices.end());
    return indices;
  };
  const auto first = sorted(kernel.assignments[0].indices);
  return std::all_of(kernel.assignments.begin(), kernel.assignments.end(),
                     [&](const Assignment& a) { return sorted(a.indices) == first; });
}

}  // namespace

bool AffineAccess::depends_on(int axis) const {
  return std::any_of(leaves.begin(), leaves.end(),
                     [&](const Leaf& leaf) { return leaf.axis == axis && !leaf.stride.is(0); });
}

std::variant<PermuteForm, NotPermute> recognise_permute(const Kernel& kernel, Facts& facts) {
  const auto live = reachable(kernel);
  for (std::size_t id = 0; id < kernel.nodes.size(); ++id) {
    if (live[id] && std::holds_alternative<Reduce>(kernel.nodes[id].what))
      return NotPermute{"it has a reduction"};
  }
  if (!same_indices(kernel)) return NotPermute{"its outputs have different indices"};
  PermuteForm form;
  form.indices = kernel.assignments[0].indices;
  if (form.indices.empty()) return NotPermute{"its output has no index"};
  AccessFinder finder(kernel, facts, form.indices);
  for (const Assignment& assignment : kernel.assignments)
    form.outputs.push_back(finder.output(assignment));
  const auto everywhere = always(kernel);
  for (std::size_t id = 0; id < kernel.nodes.size(); ++id) {
    const auto* load = std::get_if<Load>(&kernel.nodes[id].what);
    if (!load || !live[id] || !everywhere[id]) continue;
    if (kernel.tensor(load->tensor).access != Access::input) continue;
    // Loads at coordinates that are no sums of indices (gathers) are read where they are used. So
    // are elements of 4 bits along another index than the outputs: one by one they would be written
    // to shared memory, where two share a byte.
    auto way = finder.input(*load);
    if (!way) continue;
    const int last = static_cast<int>(form.indices.size()) - 1,
              run = form.outputs[0].run_axis >= 0 ? form.outputs[0].run_axis : last;
    if (is_half_byte(kernel.tensor(load->tensor).element) && way->run_axis >= 0 &&
        way->run_axis != run)
      continue;
    form.inputs.push_back({static_cast<NodeId>(id), std::move(*way)});
  }
  return form;
}

}  // namespace lay::plan
