// Calls of the kernel that a tile program is of, and what the program makes of their outputs.
#pragma once

#include <vector>

#include "backend/tile/program.h"
#include "frontend/sema/kernel/kernel_call.h"

namespace lay::tile {

// The array of one tensor as that of another one at the same memory.
sema::Array as_tensor(const sema::Array& array, const sema::Tensor& from, const sema::Tensor& to,
                      const Binding& sizes);

// The call as one of the program's kernel, whose tensors have the names of those of the call's.
sema::KernelCall call_of(const Program& program, const sema::KernelCall& call);

// What a program stores, by assignment of its kernel: each element once. Both throw
// std::logic_error where a program does not.
class StoredOutputs {
 public:
  // `call` is one of the program's kernel.
  StoredOutputs(const Program& program, const sema::KernelCall& call);

  // The array of an assignment's target, and the element of it at a coordinate, which is stored
  // now.
  sema::Array& array(int assignment) {
    return outputs_[static_cast<std::size_t>(assignment)].array;
  }
  std::int64_t element(int assignment, const std::vector<std::int64_t>& coordinate);

  // What was stored in an output of another kernel, which has it at the same memory.
  sema::Array of(const sema::Tensor& tensor, const Binding& sizes) const;

 private:
  struct Output {
    sema::Array array;
    std::vector<char> is_stored;  // by element
  };
  const sema::Tensor& target(std::size_t assignment) const;

  const sema::Kernel& kernel_;
  std::vector<Output> outputs_;
};

}  // namespace lay::tile
