// Walks over the nodes of a checked kernel.
#pragma once

#include <set>
#include <vector>

#include "frontend/sema/kernel/kernel.h"

namespace lay::sema {

// Returns the operands of a node: coordinates of a load, the body of a reduction, arguments of a
// function.
std::vector<NodeId> operands(const Node& node);

// Returns, by node id, whether the values in `from` depend on the node, themselves included; and
// whether the assignments do.
std::vector<char> reachable(const Kernel& kernel, const std::vector<NodeId>& from);
std::vector<char> reachable(const Kernel& kernel);

// Returns every index that a value depends on, those of reductions inside it too.
std::set<IndexId> indices_of(const Kernel& kernel, NodeId value);

// Returns whether a node's value is read from a tensor, or computed from one.
bool reads_memory(const Kernel& kernel, NodeId node);

// Returns the index that a coordinate is, or -1 if it is anything else.
IndexId bare_index(const Kernel& kernel, NodeId node);

}  // namespace lay::sema
