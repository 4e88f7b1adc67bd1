#include "runtime/execute/packed_call.h"

namespace lay::runtime {

PackedCall packed(const sema::KernelCall& call) {
  PackedCall result{call.kernel, call.sizes, call.scalars, {}};
  for (std::size_t id = 0; id < call.kernel->tensors.size(); ++id) {
    result.memory.push_back(sema::pack(call.kernel->tensors[id], call.sizes, call.tensors.at(id)));
  }
  return result;
}

std::vector<sema::Array> unpacked_outputs(const sema::KernelCall& call, const PackedCall& packed) {
  std::vector<sema::Array> outputs;
  const auto& tensors = call.kernel->tensors;
  for (std::size_t id = 0; id < tensors.size(); ++id) {
    if (tensors[id].access == sema::Access::input) continue;
    outputs.push_back(
        sema::unpack(tensors[id], call.tensors[id].element, call.sizes, packed.memory[id]));
  }
  return outputs;
}

}  // namespace lay::runtime
