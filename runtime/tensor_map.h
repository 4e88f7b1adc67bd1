// TMA descriptors, encoded by the driver for one launch.
#pragma once

#include "backend/ir/ir.h"
#include "runtime/driver.h"

namespace lay::runtime {

// The descriptor of a tensor map at these sizes, for the tensor at that address (CUDA Driver API,
// cuTensorMapEncodeTiled): extents and strides by the tensor's layout, zeros outside. Throws DriverError, where the
// driver refuses it or is too old.
TensorMapBits encode(const ir::Kernel& kernel, const ir::TensorMap& map, const Binding& sizes, Address tensor);

}  // namespace lay::runtime
