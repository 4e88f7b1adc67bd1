#include "backend/ir/lower/source_operand.h"

#include <optional>

#include "backend/ir/truth.h"
#include "backend/plan/recognise.h"

namespace lay::ir {

using namespace sema;

namespace {

// When a node is evaluated: never seen, always, under one condition, or in a way that is not
// described here.
struct Reach {
  enum Kind { unseen, always, conditional, other } kind = unseen;
  NodeId condition = -1;
  bool when = true;
  Truth truth;  // that the condition is `when`
  friend bool operator==(const Reach& a, const Reach& b) {
    return a.kind == b.kind && a.truth == b.truth;
  }
};

// Returns the reach of a node that has two uses. A value used always and under a condition is read
// always; under two conditions, the reach is not described here.
Reach either(const Reach& a, const Reach& b) {
  if (a.kind == Reach::unseen || a == b) return b;
  if (b.kind == Reach::unseen) return a;
  if (a.kind == Reach::always || b.kind == Reach::always) return {Reach::always, -1, true, {}};
  return {Reach::other, -1, true, {}};
}

// An arm inside an arm. select(beta != 0, select(beta != 0, x, y), z) reads x under beta != 0, and
// y never: the inner test contradicts the outer one.
Reach under(const Kernel& kernel, const Reach& outer, NodeId condition, bool when) {
  const Truth truth = ir::truth(kernel, condition, when);
  if (outer.kind == Reach::always) return {Reach::conditional, condition, when, truth};
  if (outer.kind != Reach::conditional) return outer;
  if (outer.truth == truth) return outer;
  if (outer.truth.contradicts(truth)) return {};
  return {Reach::other, -1, true, {}};
}

std::vector<Reach> reaches(const Kernel& kernel, NodeId root) {
  std::vector<Reach> reach(kernel.nodes.size());
  reach[static_cast<size_t>(root)] = {Reach::always, -1, true, {}};
  // Operands have smaller ids than the nodes that use them, so going down from the root every use
  // of a node is seen before the node itself.
  for (NodeId id = root; id >= 0; --id) {
    const Reach& here = reach[static_cast<size_t>(id)];
    if (here.kind == Reach::unseen) continue;
    const auto pass = [&](NodeId operand, const Reach& more) {
      Reach& known = reach[static_cast<size_t>(operand)];
      known = either(known, more);
    };
    const Node& node = kernel.node(id);
    const auto* apply = std::get_if<Apply>(&node.what);
    const auto function = apply ? apply->function : ElementFunction::add;
    const auto operands = plan::operands(node);
    for (size_t i = 0; i < operands.size(); ++i) {
      // The condition of a selection, `and` or `or` is always evaluated, what comes behind only
      // where the condition leaves it: `a and b` evaluates b where a is true, `a or b` where it is
      // false.
      if (function == ElementFunction::select && i > 0) {
        pass(operands[i], under(kernel, here, operands[0], i == 1));
      } else if ((function == ElementFunction::and_ || function == ElementFunction::or_) && i > 0) {
        pass(operands[i], under(kernel, here, operands[0], function == ElementFunction::and_));
      } else {
        pass(operands[i], here);
      }
    }
  }
  return reach;
}

// Made of scalars, sizes and literals only.
// The same for every element of a launch, so that one branch decides for a whole tile.
bool uniform(const Kernel& kernel, NodeId id) {
  const Node& node = kernel.node(id);
  if (std::holds_alternative<IndexValue>(node.what) || std::holds_alternative<Load>(node.what) ||
      std::holds_alternative<Reduce>(node.what)) {
    return false;
  }
  for (NodeId operand : plan::operands(node)) {
    if (!uniform(kernel, operand)) return false;
  }
  return true;
}

bool is_assigned_element(const Kernel& kernel, const Assignment& assignment, const Load& load) {
  // C[m,n] in C[m,n] = ..: the same tensor at the same bare indices, in the same order.
  if (load.tensor != assignment.target || load.coordinate.size() != assignment.indices.size())
    return false;
  for (size_t i = 0; i < assignment.indices.size(); ++i) {
    if (plan::bare_index(kernel, load.coordinate[i]) != assignment.indices[i]) return false;
  }
  return true;
}

}  // namespace

std::vector<SourceOperand> source_operands(const Kernel& kernel, const Assignment& assignment) {
  std::vector<SourceOperand> result;
  const auto reach = reaches(kernel, assignment.value);
  for (size_t id = 0; id < kernel.nodes.size(); ++id) {
    const auto* load = std::get_if<Load>(&kernel.nodes[id].what);
    if (!load || !is_assigned_element(kernel, assignment, *load)) continue;
    const Reach& here = reach[id];
    if (here.kind == Reach::always) {
      result.push_back({static_cast<NodeId>(id), -1, true});
    } else if (here.kind == Reach::conditional && uniform(kernel, here.condition)) {
      result.push_back({static_cast<NodeId>(id), here.condition, here.when});
    }
  }
  if (result.size() > 1)
    result.clear();  // equal loads are one node, unless somebody made them otherwise
  return result;
}

SourceOperand when_read(const Kernel& kernel, NodeId load) {
  Reach read;
  for (const Assignment& assignment : kernel.assignments)
    read = either(read, reaches(kernel, assignment.value)[static_cast<size_t>(load)]);
  if (read.kind == Reach::conditional && uniform(kernel, read.condition))
    return {load, read.condition, read.when};
  return {load, -1, true};
}

}  // namespace lay::ir
