#include "runtime/packed_call.h"

#include <stdexcept>
#include <string>

namespace lay::runtime {
namespace {

// The place of what has this name: names survive lowering.
template <class Named>
std::size_t place_of(const std::vector<Named>& list, const std::string& name) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name) return i;
  throw std::logic_error("internal: the lowered kernel has a `" + name + "` that the script's has not");
}

}  // namespace

PackedCall packed(const ir::Kernel& kernel, const sema::KernelCall& call) {
  PackedCall result;
  result.sizes = call.sizes;
  for (const ir::Param& param : kernel.params)
    if (!param.is_size) result.scalars.push_back(call.scalars.at(place_of(call.kernel->scalars, param.name)));
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (buffer.space != ir::Space::global || buffer.workspace) continue;
    const std::size_t tensor = place_of(call.kernel->tensors, buffer.name);
    result.memory.push_back(sema::pack(call.kernel->tensors[tensor], call.sizes, call.tensors.at(tensor)));
    result.tensors.push_back(static_cast<sema::TensorId>(tensor));
  }
  return result;
}

std::vector<sema::Array> unpacked_outputs(const sema::KernelCall& call, const PackedCall& packed) {
  std::vector<sema::Array> outputs;
  const auto& tensors = call.kernel->tensors;
  for (std::size_t id = 0; id < tensors.size(); ++id) {
    if (tensors[id].access == sema::Access::input) continue;
    for (std::size_t i = 0; i < packed.tensors.size(); ++i)
      if (packed.tensors[i] == static_cast<sema::TensorId>(id))
        outputs.push_back(sema::unpack(tensors[id], call.sizes, packed.memory[i]));
  }
  return outputs;
}

}  // namespace lay::runtime
