// The arguments of a kernel call as launches take them.
#pragma once

#include <cstddef>
#include <vector>

#include "frontend/sema/kernel/kernel_call.h"

namespace lay::runtime {

// A call's arguments as bytes.
struct PackedCall {
  sema::KernelPtr kernel;
  Binding sizes;
  // By ScalarId.
  std::vector<sema::Number> scalars;
  // By TensorId.
  std::vector<std::vector<std::byte>> memory;
};

PackedCall packed(const sema::KernelCall& call);

// The outputs of the call, in the order of the tensors, from memory that a launch has written.
std::vector<sema::Array> unpacked_outputs(const sema::KernelCall& call, const PackedCall& packed);

}  // namespace lay::runtime
