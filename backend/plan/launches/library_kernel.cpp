#include "backend/plan/launches/library_kernel.h"

#include <stdexcept>

#include "frontend/sema/library.h"

namespace lay::plan {

using namespace sema;

Kernel instance_of(const LibraryKernel& asked, const Kernel& beside) {
  Kernel made = *library_kernel(asked.library, asked.name);
  std::map<DimId, Int> sizes;
  for (const Dim& dim : made.dims) sizes.emplace(*dim.symbol.dim_id(), asked.sizes.at(dim.name));
  if (made.tensors.size() != asked.tensors.size())
    throw std::logic_error("internal: " + asked.name + " takes other tensors");
  for (std::size_t i = 0; i < made.tensors.size(); ++i) {
    const Access access = made.tensors[i].access;
    made.tensors[i] = asked.tensors[i];
    made.tensors[i].access = access;
  }
  for (Index& index : made.indices) index.extent = index.extent.substitute(sizes);
  for (Node& node : made.nodes)
    if (auto* size = std::get_if<SizeValue>(&node.what))
      size->value = size->value.substitute(sizes);
  made.name = beside.name + "_" + asked.name;
  made.dims = beside.dims;
  made.guards = beside.guards;
  made.where = beside.where;
  return made;
}

}  // namespace lay::plan
