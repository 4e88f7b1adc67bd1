// TMA descriptors, encoded by the driver for the tensors of a launch.
#pragma once

#include <map>
#include <mutex>

#include "backend/ir/ir.h"
#include "runtime/gpu/driver.h"

namespace lay::runtime {

// CUtensorMapDataType of an element; std::logic_error for those that no tensor map has.
int tensor_map_type(ElementType type);

// Descriptors that launches have in common are encoded once. May be asked from several threads.
class TensorMaps {
 public:
  // The descriptor of a tensor map at these sizes, for the tensor at that address (CUDA Driver API,
  // cuTensorMapEncodeTiled, with im2col cuTensorMapEncodeIm2col): extents and strides by the
  // tensor's layout, zeros outside. Throws DriverError, where the driver refuses it or is too old.
  TensorMapBits find(const ir::Kernel& kernel, const ir::TensorMap& map, const Binding& sizes,
                     Address tensor);

 private:
  std::mutex mutex_;
  // Forgotten all together when they are many.
  std::map<TiledTensor, TensorMapBits> encoded_;
};

}  // namespace lay::runtime
