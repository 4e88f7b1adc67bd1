// `lay bench` on the kernels of gemms.lay, on the machine whose GPU is the host interpreter.
#pragma once

#include <string>
#include <vector>

#include "frontend/sema/kernel/kernel.h"
#include "runtime/bench/bench.h"

namespace lay::test {

struct Ended {
  int code;
  std::string out, error;
};

// The kernels of gemms.lay can be launched from now on.
void know_script_kernels();
sema::KernelPtr kernel_named(const std::string& name);
// The kernels of a script in this folder, in its order.
std::vector<sema::KernelPtr> kernels_of(const std::string& file);

// Benchmarks gemms.lay where no file is given, with times that are over soon.
Ended bench(bench::Options options);

}  // namespace lay::test
