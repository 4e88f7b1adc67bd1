// What `lay build` writes beside the compiled kernels, for whoever launches them: parameters,
// guards, and for every variant its conditions, its launch and its files. JSON, documented member
// by member in manifest.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/emit.h"
#include "backend/ir/ir.h"
#include "backend/plan/plan.h"

namespace lay::runtime {

struct BuiltFile {
  std::string name, kind, target;  // "linear.any.sm_90a.cubin", "cubin", "sm_90a"
};

struct BuiltLaunch {
  ir::Kernel kernel;
  cuda::Emitted emitted;
  std::vector<BuiltFile> files;
};

struct BuiltVariant {
  const plan::Variant* variant = nullptr;
  std::vector<std::string> targets;   // those with this variant
  std::vector<BuiltLaunch> launches;  // in order
};

struct BuiltKernel {
  sema::KernelPtr kernel;
  std::vector<std::unique_ptr<const plan::Plan>>
      plans;  // of each target; the variants point into them
  std::vector<BuiltVariant>
      variants;  // in the order in which the launcher tries those of its target
};

std::string manifest(const std::string& script, const std::vector<BuiltKernel>& kernels);

}  // namespace lay::runtime
