// The manifest that `lay build` writes beside the compiled kernels, for the code that launches
// them: parameters, guards, and for every variant its conditions, its launch and its files. JSON,
// member by member as the schema lay-manifest-5.schema.json in this folder has it, which is
// installed as share/lay/lay-manifest-5.schema.json.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/emit.h"
#include "backend/ir/ir.h"
#include "backend/plan/plan.h"

namespace lay::runtime {

// The parts of the manifest, from a file to a kernel.
struct BuiltFile {
  // "linear.any.sm_90a.cubin", "cubin", "sm_90a"
  std::string name, kind, target;
  // What a cubin or PTX file holds; null of source.
  std::shared_ptr<const std::string> image = nullptr;
};

struct BuiltLaunch {
  ir::Kernel kernel;
  cuda::Emitted emitted;
  std::vector<BuiltFile> files;
};

struct BuiltVariant {
  const plan::Variant* variant = nullptr;
  // Those with this variant.
  std::vector<std::string> targets;
  // The stages that are launched before, by number into BuiltKernel::stages.
  std::vector<std::size_t> stages;
  std::vector<BuiltLaunch> launches;  // in order
};

// A kernel of its own that variants launch first, for values that they read from workspace. The
// launcher takes the first of its variants that takes the sizes.
struct BuiltStage {
  std::shared_ptr<const plan::Plan> plan;
  std::vector<BuiltVariant> variants;
};

struct BuiltKernel {
  sema::KernelPtr kernel;
  std::vector<std::unique_ptr<const plan::Plan>>
      plans;  // of each target; the variants point into them
  std::vector<BuiltStage> stages;
  // In the order in which the launcher tries those of its target.
  std::vector<BuiltVariant> variants;
};

// A kernel as its callers see it: name, sizes, tensors with their shapes and strides, scalars, the
// order of its parameters and the guards.
std::string signature_json(const sema::Kernel& kernel);

// The version of the manifest's format, and the number of its schema.
inline constexpr int manifest_version = 5;

// The manifest of the kernels of a script, "linear.lay".
std::string manifest(const std::string& script, const std::vector<BuiltKernel>& kernels);

}  // namespace lay::runtime
