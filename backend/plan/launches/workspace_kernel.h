// Kernels that do a part of another kernel's work, and the tensors in workspace that they leave to
// one another.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "backend/plan/plan.h"

namespace lay::plan {

// The next place in workspace at which a tensor may begin.
Int aligned_up(const Int& bytes);

// Moves what the launches of a variant have in workspace that many bytes up.
void move_in_workspace(Variant& variant, const Int& bytes);

// Names and places of tensors in workspace beside a kernel's own.
class Workspace {
 public:
  explicit Workspace(const sema::Kernel& kernel);

  // Returns the name, or a longer one that the kernel does not use.
  std::string unused(std::string wish);
  // A tensor of these extents, the last of them the fastest. A launch writes it.
  sema::Tensor add(const std::string& wish, ElementType element, const std::vector<Int>& extents,
                   const Span& where);

  const std::vector<WorkspaceTensor>& tensors() const { return tensors_; }
  const Int& bytes() const { return bytes_; }

 private:
  std::set<std::string> taken_;
  std::vector<WorkspaceTensor> tensors_;
  Int bytes_ = Int(0);
};

// Adds the node and returns its id; what it is computed from is there.
sema::NodeId added(sema::Kernel& kernel, sema::Node node);
sema::NodeId add_integer(sema::Kernel& kernel, std::int64_t value, ElementType type,
                         const Span& where);

// Adds the tensor as an input, behind the others of the signature.
sema::TensorId add_input(sema::Kernel& kernel, sema::Tensor tensor);
// Adds the tensor as an input and an element of it at these indices.
sema::NodeId add_input(sema::Kernel& kernel, sema::Tensor tensor,
                       const std::vector<sema::IndexId>& at, const Span& where);
// Adds the tensor as an output whose elements are the value's.
void add_output(sema::Kernel& kernel, sema::Tensor tensor, const std::vector<sema::IndexId>& at,
                sema::NodeId value, const Span& where);

// The kernel that computes a value of a kernel's, at all values of these indices, as its only
// output, and has the output's name behind its own.
sema::Kernel storing(sema::Kernel kernel, const sema::Tensor& result,
                     const std::vector<sema::IndexId>& at, sema::NodeId value);
// The kernel as a launch before another one: without schedules and without what it does not need.
sema::KernelPtr as_launch(sema::Kernel kernel);

// Returns by id whether a tensor is read or written.
std::vector<char> used_tensors(const sema::Kernel& kernel);
// Removes the tensors behind the first `kept` ones that are neither read nor written, from the
// kernel and its signature.
void drop_unused_tensors(sema::Kernel& kernel, std::size_t kept = 0);

}  // namespace lay::plan
