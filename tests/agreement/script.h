// The kernels of a script in tests/, as written and, where asked, again with f64 in place of f32,
// ready to be called on the host and on a GPU.
#pragma once

#include <string>
#include <vector>

#include "frontend/sema/evaluator.h"
#include "runtime/execute/executor.h"

namespace lay::test {

class Kernels {
 public:
  // A path from the project's root, or from the current folder where the sources are not on the
  // machine.
  explicit Kernels(const std::string& file, bool in_f64_too = false);
  const std::vector<sema::KernelPtr>& all() const { return kernels_; }
  // Every so manieth kernel, from that one on: what one process of several takes.
  std::vector<sema::KernelPtr> part(int first, int parts) const;
  runtime::Executor& host() { return host_; }
  runtime::Executor& gpu() { return gpu_; }

 private:
  Sources sources_;
  std::vector<sema::KernelPtr> kernels_;
  runtime::Executor host_{sources_, runtime::MachineChoice::host};
  runtime::Executor gpu_{sources_, runtime::MachineChoice::gpu};
};

}  // namespace lay::test
