#include "backend/plan/support.h"

#include <algorithm>

#include "backend/plan/recognise.h"

namespace lay::plan {

namespace {

constexpr std::size_t most_nodes = 4096;
constexpr double most_copies = 65536;  // of nodes, where arms of selections repeat them

void unsupported(std::string message, const Span& where, std::string help,
                 std::vector<Problem>& problems) {
  problems.push_back(
      {"unsupported", std::move(message), where, {}, {{"help", std::move(help)}}, {}});
}

// An inout tensor is read only at the element that is written, and outside of sums.
void check_inout(const sema::Kernel& kernel, const std::vector<char>& live,
                 std::vector<Problem>& problems) {
  for (const sema::Assignment& assignment : kernel.assignments) {
    const sema::Tensor& tensor = kernel.tensor(assignment.target);
    // Threads run in any order: an element that another thread writes may be the old one or the new
    // one.
    if (tensor.access != sema::Access::inout) continue;
    for (std::size_t id = 0; id < kernel.nodes.size(); ++id) {
      const auto* load = std::get_if<sema::Load>(&kernel.nodes[id].what);
      if (!live[id] || !load || load->tensor != assignment.target) continue;
      bool same = load->coordinate.size() == assignment.indices.size();
      for (std::size_t i = 0; same && i < assignment.indices.size(); ++i) {
        same = bare_index(kernel, load->coordinate[i]) == assignment.indices[i];
      }
      if (same) continue;
      unsupported(tensor.name + " is read at an element that another thread may have written",
                  kernel.nodes[id].where,
                  "read an inout tensor at the assigned indices only, or give a copy of it",
                  problems);
    }
  }
}

// Several outputs over different indices run one after the other; what one writes the next must not
// read.
void check_order(const sema::Kernel& kernel, std::vector<Problem>& problems) {
  const auto sorted = [](std::vector<sema::IndexId> indices) {
    std::sort(indices.begin(), indices.end());
    return indices;
  };
  for (const sema::Assignment& assignment : kernel.assignments) {
    const sema::Tensor& tensor = kernel.tensor(assignment.target);
    // Groups of one kernel are not ordered among blocks.
    const bool same = sorted(assignment.indices) == sorted(kernel.assignments[0].indices);
    if (!same && tensor.access == sema::Access::inout) {
      unsupported("outputs over different indices cannot be inout yet", assignment.where,
                  "two kernels, one for each output", problems);
    }
  }
}

void check_types(const sema::Kernel& kernel, std::vector<Problem>& problems) {
  using enum ElementType;
  constexpr ElementType known[] = {f16, bf16, tf32, e4m3, e5m2, f32, f64,
                                   s8,  u8,   s32,  u32,  s64,  s4,  u4};
  for (const sema::Tensor& tensor : kernel.tensors) {
    if (std::find(std::begin(known), std::end(known), tensor.element) == std::end(known)) {
      unsupported("no kernel on arrays of " + std::string(element_name(tensor.element)) + " yet",
                  tensor.where,
                  "f16, bf16, tf32, e4m3, e5m2, f32, f64, s8, u8, s32, u32 and s64 are supported, "
                  "and s4 and u4 of inputs",
                  problems);
    } else if (is_half_byte(tensor.element) && tensor.access != sema::Access::input) {
      const std::string name(element_name(tensor.element));
      unsupported("two elements of " + name + " share a byte, and the threads that write " +
                      tensor.name + " would race for it",
                  tensor.where,
                  "an output of " + std::string(is_signed(tensor.element) ? "s8" : "u8") + "; " +
                      name + " is for inputs",
                  problems);
    }
  }
  for (const sema::Scalar& scalar : kernel.scalars)
    if (is_half_byte(scalar.type))
      unsupported("no scalar of " + std::string(element_name(scalar.type)), scalar.where,
                  "a scalar of s32", problems);
}

// The size of the expression as a tree, in which a shared part counts at each use.
void check_size(const sema::Kernel& kernel, std::vector<Problem>& problems) {
  // x = x * x forty times over is forty nodes and 2^40 leaves: arms of selections would write it
  // out.
  std::vector<double> copies(kernel.nodes.size(), 1);
  for (std::size_t id = 0; id < kernel.nodes.size(); ++id) {
    for (sema::NodeId operand : operands(kernel.nodes[id]))
      copies[id] += copies[static_cast<std::size_t>(operand)];
  }
  for (const sema::Assignment& assignment : kernel.assignments) {
    if (kernel.nodes.size() > most_nodes ||
        copies[static_cast<std::size_t>(assignment.value)] > most_copies) {
      unsupported("this expression is too large for one kernel", assignment.where,
                  "several kernels, one after the other", problems);
      return;
    }
  }
}

}  // namespace

void check_support(const sema::Kernel& kernel, std::vector<Problem>& problems) {
  if (kernel.assignments.empty()) {
    return unsupported("a kernel without outputs does nothing", kernel.where, "assign an output",
                       problems);
  }
  check_types(kernel, problems);
  check_inout(kernel, reachable(kernel), problems);
  check_order(kernel, problems);
  check_size(kernel, problems);
}

}  // namespace lay::plan
