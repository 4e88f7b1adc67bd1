// The kernels of a script, for benchmarks and GPU checks.
#pragma once

#include <string>
#include <vector>

#include "frontend/sema/kernel/kernel.h"

namespace lay::bench {

// Throws std::runtime_error with the first diagnostic of a script that does not check.
std::vector<sema::KernelPtr> kernels_of(const std::string& path);

}  // namespace lay::bench
