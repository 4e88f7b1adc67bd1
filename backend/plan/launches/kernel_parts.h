// Checked kernels that are made of parts of another one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "frontend/sema/kernel/kernel.h"

namespace lay::plan {

// A kernel's nodes while they are copied, in order.
class Rebuilding {
 public:
  explicit Rebuilding(const sema::Kernel& kernel) : now_(kernel.nodes.size(), -1) {}

  sema::NodeId add(sema::Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<sema::NodeId>(nodes_.size()) - 1;
  }
  // The value in the type of the node that it stands for.
  sema::NodeId add_as(const sema::Node& was, sema::NodeId value);
  // An element of a tensor at these indices, likewise.
  sema::NodeId add_load(const sema::Node& was, sema::TensorId tensor, ElementType element,
                        const std::vector<sema::IndexId>& at);
  // Where a node of the kernel is now.
  sema::NodeId now(sema::NodeId id) const { return now_[static_cast<std::size_t>(id)]; }
  const std::vector<sema::NodeId>& now() const { return now_; }
  void is(sema::NodeId id, sema::NodeId now) { now_[static_cast<std::size_t>(id)] = now; }
  std::vector<sema::Node> nodes() && { return std::move(nodes_); }

 private:
  std::vector<sema::Node> nodes_;
  std::vector<sema::NodeId> now_;
};

// The kernel with some nodes made by `replace`, which gets the id of each, and it with its operands
// where they are now, and returns the node that stands for it. Nodes that nothing needs any more
// are left out.
using Replace = std::function<sema::NodeId(Rebuilding&, sema::NodeId, sema::Node)>;
sema::Kernel rebuilt(const sema::Kernel& kernel, const std::set<sema::NodeId>& nodes,
                     const Replace& replace);

// By the indices that a value depends on, those that it depends on in the place of another value,
// where both are the same but for their indices, which have equal extents; else nothing.
//
//   sum[k](X[m,k] * W[n,k])  and  sum[k](X[m,k] * W[j,k])     m: m, n: j, k: k
std::optional<std::map<sema::IndexId, sema::IndexId>> same_but_for_indices(
    const sema::Kernel& kernel, sema::NodeId value, sema::NodeId other);

// The indices, those of the outputs first and in their order.
std::vector<sema::IndexId> in_order_of_outputs(const sema::Kernel& kernel,
                                               const std::set<sema::IndexId>& indices);

}  // namespace lay::plan
