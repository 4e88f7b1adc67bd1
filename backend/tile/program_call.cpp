#include "backend/tile/program_call.h"

#include <algorithm>
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

StoredOutputs::StoredOutputs(const Program& program, const sema::KernelCall& call)
    : kernel_(*program.kernel) {
  for (const sema::Assignment& assignment : kernel_.assignments) {
    const Array& like = call.tensors[static_cast<std::size_t>(assignment.target)];
    Output output{Array::make(like.element, like.shape), {}};
    output.is_stored.resize(static_cast<std::size_t>(output.array.size()), 0);
    outputs_.push_back(std::move(output));
  }
}

const sema::Tensor& StoredOutputs::target(std::size_t assignment) const {
  return kernel_.tensor(kernel_.assignments[assignment].target);
}

std::int64_t StoredOutputs::element(int assignment, const std::vector<std::int64_t>& coordinate) {
  Output& output = outputs_[static_cast<std::size_t>(assignment)];
  const std::int64_t element = output.array.offset(coordinate);
  char& is_stored = output.is_stored[static_cast<std::size_t>(element)];
  if (is_stored)
    throw std::logic_error("internal: an element of `" +
                           target(static_cast<std::size_t>(assignment)).name + "` is stored twice");
  is_stored = 1;
  return element;
}

Array StoredOutputs::of(const sema::Tensor& tensor, const Binding& sizes) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (target(i).name != tensor.name) continue;
    if (!std::ranges::all_of(outputs_[i].is_stored, [](char stored) { return stored != 0; }))
      throw std::logic_error("internal: an element of `" + tensor.name + "` is never stored");
    return as_tensor(outputs_[i].array, target(i), tensor, sizes);
  }
  throw std::logic_error("internal: `" + tensor.name + "` is no output");
}

}  // namespace lay::tile
