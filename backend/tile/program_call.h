// Calls of the kernel that a tile program is of.
#pragma once

#include "backend/tile/program.h"
#include "frontend/sema/kernel/kernel_call.h"

namespace lay::tile {

// The array of one tensor as that of another one at the same memory.
sema::Array as_tensor(const sema::Array& array, const sema::Tensor& from, const sema::Tensor& to,
                      const Binding& sizes);

// The call as one of the program's kernel, whose tensors have the names of those of the call's.
sema::KernelCall call_of(const Program& program, const sema::KernelCall& call);

}  // namespace lay::tile
