#include "runtime/bench/unfused.h"

#include <algorithm>

namespace lay::bench {

sema::KernelPtr epilogue_kernel(const sema::Kernel& kernel, const plan::GemmForm& form,
                                ElementType product) {
  auto made = std::make_shared<sema::Kernel>(kernel);
  const sema::Assignment& assignment = kernel.assignments.at(0);
  made->name += "_epilogue";
  made->schedules.clear();
  sema::Tensor tensor = kernel.tensors[static_cast<std::size_t>(assignment.target)];
  tensor.name = "product";
  while (std::any_of(kernel.tensors.begin(), kernel.tensors.end(),
                     [&](const auto& t) { return t.name == tensor.name; }))
    tensor.name += "_";
  tensor.element = product;
  tensor.access = sema::Access::input;
  const auto id = static_cast<sema::TensorId>(made->tensors.size());
  made->tensors.push_back(tensor);
  made->signature.push_back({false, id});

  // The factors' coordinates stand before the sum; the sum's body becomes the load, the sum its
  // conversion.
  sema::Load load{id, {}};
  for (const sema::IndexId index : assignment.indices)
    for (sema::NodeId node = 0; node < form.contraction; ++node)
      if (plan::bare_index(kernel, node) == index) {
        load.coordinate.push_back(node);
        break;
      }
  sema::Node& sum = made->nodes[static_cast<std::size_t>(form.contraction)];
  const sema::NodeId body = std::get<sema::Contraction>(sum.what).body;
  sema::Node& read = made->nodes[static_cast<std::size_t>(body)];
  read.what = load;
  read.type = product;
  if (sum.type == product)
    sum.what = load;
  else
    sum.what = sema::Apply{ElementFunction::cast, {body}};
  return made;
}

}  // namespace lay::bench
