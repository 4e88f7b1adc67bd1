// Walks over the nodes of a checked kernel.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "frontend/sema/kernel/kernel.h"

namespace lay::sema {

// Returns the operands of a node: coordinates of a load, the body of a reduction, arguments of a
// function.
std::vector<NodeId> operands(const Node& node);

// Returns the node with each operand replaced by the one that stands for it now, by node id.
Node remapped(Node node, const std::vector<NodeId>& now);

// Returns, by node id, whether the values in `from` depend on the node, themselves included; and
// whether the assignments do.
std::vector<char> reachable(const Kernel& kernel, const std::vector<NodeId>& from);
std::vector<char> reachable(const Kernel& kernel);
// The same as far as a walk from `from` comes that does not go on behind nodes of which ends(id)
// holds. Those themselves count.
std::vector<char> reachable_until(const Kernel& kernel, const std::vector<NodeId>& from,
                                  const std::function<bool(NodeId)>& ends);

// Returns every index that a value depends on, those of reductions inside it too.
std::set<IndexId> indices_of(const Kernel& kernel, NodeId value);

// Returns whether a node's value is read from a tensor, or computed from one. `held` says which
// values are there already and need nothing.
bool reads_memory(const Kernel& kernel, NodeId node);
bool reads_memory(const Kernel& kernel, NodeId node, const std::function<bool(NodeId)>& held);

// Returns the value that a node converts: what is behind its casts, the node itself without any.
NodeId without_casts(const Kernel& kernel, NodeId node);

// Returns the index that a coordinate is, or -1 if it is anything else.
IndexId bare_index(const Kernel& kernel, NodeId node);

}  // namespace lay::sema
