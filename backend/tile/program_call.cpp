#include "backend/tile/program_call.h"

#include <stdexcept>

namespace lay::tile {

using sema::Array;

namespace {

const sema::Tensor& tensor_named(const sema::Kernel& kernel, const std::string& name,
                                 std::size_t& id) {
  for (id = 0; id < kernel.tensors.size(); ++id)
    if (kernel.tensors[id].name == name) return kernel.tensors[id];
  throw std::logic_error("internal: no tensor `" + name + "` in `" + kernel.name + "`");
}

}  // namespace

Array as_tensor(const Array& array, const sema::Tensor& from, const sema::Tensor& to,
                const Binding& sizes) {
  if (sema::array_shape(from, sizes) == sema::array_shape(to, sizes)) return array;
  return sema::unpack(to, array.element, sizes, sema::pack(from, sizes, array));
}

sema::KernelCall call_of(const Program& program, const sema::KernelCall& call) {
  if (call.kernel == program.kernel) return call;
  sema::KernelCall made{program.kernel, call.sizes, {}, call.scalars, call.arithmetic};
  for (const sema::Tensor& tensor : program.kernel->tensors) {
    std::size_t id = 0;
    const sema::Tensor& given = tensor_named(*call.kernel, tensor.name, id);
    made.tensors.push_back(as_tensor(call.tensors[id], given, tensor, call.sizes));
  }
  return made;
}

}  // namespace lay::tile
