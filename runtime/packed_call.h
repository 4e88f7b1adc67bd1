// The arguments of a kernel call as a launch takes them.
#pragma once

#include <cstddef>
#include <vector>

#include "backend/ir/ir.h"
#include "frontend/sema/kernel_call.h"

namespace lay::runtime {

struct PackedCall {
  Binding sizes;
  std::vector<sema::Number> scalars;           // of the kernel's parameters that are no sizes, in their order
  std::vector<std::vector<std::byte>> memory;  // of its global buffers that are no workspace, in their order
  std::vector<sema::TensorId> tensors;         // which tensor each of them is
};

PackedCall packed(const ir::Kernel& kernel, const sema::KernelCall& call);

// The outputs of the call, in the order of the tensors, from memory that a launch has written.
std::vector<sema::Array> unpacked_outputs(const sema::KernelCall& call, const PackedCall& packed);

}  // namespace lay::runtime
