// Kernels of the standard library as launches beside a user's kernel.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/sema/kernel/kernel.h"

namespace lay::plan {

// A kernel of a library, with these sizes in place of its dims and these tensors in place of those
// of its signature, in order. Dims and guards are those of `beside`, whose sizes the given ones
// are. Each tensor has the extents that the signature asks for.
struct LibraryKernel {
  std::string library, name;
  std::map<std::string, Int> sizes;  // by the names of its dims
  std::vector<sema::Tensor> tensors;
};
sema::Kernel instance_of(const LibraryKernel& asked, const sema::Kernel& beside);

}  // namespace lay::plan
