// The arguments of a kernel call as launches take them.
#pragma once

#include <cstddef>
#include <vector>

#include "frontend/sema/kernel/kernel_call.h"

namespace lay::runtime {

struct PackedCall {
  sema::KernelPtr kernel;
  Binding sizes;
  std::vector<sema::Number> scalars;           // by ScalarId
  std::vector<std::vector<std::byte>> memory;  // by TensorId
};

PackedCall packed(const sema::KernelCall& call);

// The outputs of the call, in the order of the tensors, from memory that a launch has written.
std::vector<sema::Array> unpacked_outputs(const sema::KernelCall& call, const PackedCall& packed);

}  // namespace lay::runtime
