#include "frontend/sema/kernel/reference.h"

#include "frontend/sema/kernel/node_values.h"

namespace lay::sema {

KernelResult run_reference(const KernelCall& call) {
  const Kernel& kernel = *call.kernel;
  NodeValues values(call);
  std::vector<Array> results = call.tensors;
  for (const Assignment& a : kernel.assignments) {
    Array& result = results[static_cast<std::size_t>(a.target)];
    Array out = Array::make(result.element, result.shape);
    const ElementType type = kernel.node(a.value).type;
    values.for_each(a.indices, [&] {
      std::vector<std::int64_t> coordinate;
      for (const IndexId index : a.indices) coordinate.push_back(values.at(index));
      values.write(kernel.tensor(a.target), out, out.offset(coordinate), values.value(a.value),
                   type);
    });
    result = out;
  }
  KernelResult result;
  for (std::size_t id = 0; id < kernel.tensors.size(); ++id) {
    if (kernel.tensors[id].access != Access::input) result.outputs.push_back(results[id]);
  }
  return result;
}

}  // namespace lay::sema
