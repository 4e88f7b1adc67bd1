// Where kernels run, and what is thrown where the machine has no such place.
#pragma once

#include <stdexcept>

namespace lay::runtime {

// Where kernels run; any: on the GPU if there is one.
enum class MachineChoice { any, host, gpu };

// This machine lacks what was asked for: nothing is wrong with the script.
struct MachineLacks : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// A GPU was asked for, and there is none that can be used.
struct NoGpu : MachineLacks {
  using MachineLacks::MachineLacks;
};

}  // namespace lay::runtime
