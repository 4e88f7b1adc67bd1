// The parts of a launcher that all bundles share, embedded from the folder launcher/.
#pragma once

#include <string>

namespace lay::runtime {

// numbers.c, arguments.c, driver.c, launches.c and tvm_ffi.c, one behind the other.
std::string launcher_text();

}  // namespace lay::runtime
