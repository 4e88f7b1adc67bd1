// A kernel of ours, compiled, loaded and bound to sets of operands.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend/plan/plan.h"
#include "frontend/source/source.h"
#include "runtime/bench/problem/operand_sets.h"
#include "runtime/bench/problem/problem.h"
#include "runtime/gpu/gpu.h"

namespace lay::bench {

class CompiledKernel {
 public:
  // Compiles a variant of a plan. Throws NotMeasured.
  CompiledKernel(runtime::Gpu& gpu, const Sources& sources, const Problem& problem,
                 const plan::Plan& plan, const plan::Variant& variant);
  // Compiles kernels in the IR, whose tensors and scalars have the names of the problem's.
  CompiledKernel(runtime::Gpu& gpu, const Problem& problem, runtime::Launches launches);

  // Enqueues all launches on the operands of one set. The arguments of a set are checked and bound
  // the first time, so that a timed launch pays for neither. Throws NotMeasured.
  void launch(const OperandSets& sets, int set, runtime::StreamHandle stream) const;

  const std::string& name() const { return name_; }
  // Returns the last launch, which does the work; launches before it repack operands.
  const runtime::GpuKernel& main_kernel() const { return *prepared_.back(); }
  // Returns the compile time of all launches.
  double compile_seconds() const;

 private:
  runtime::BoundLaunches bind(const OperandSets& sets, int set) const;

  runtime::Gpu& gpu_;
  std::string name_;
  runtime::Launches launches_;
  std::vector<const runtime::GpuKernel*> prepared_;
  // Sizes, scalars and the workspace; the tensors' regions come from a set.
  runtime::NamedArguments arguments_;
  // The tensors of all launches, by name.
  std::map<std::string, sema::TensorId> tensors_;
  runtime::DeviceMemory workspace_;
  // Bound launches by the addresses of the tensors.
  mutable std::map<std::vector<runtime::Address>, runtime::BoundLaunches> bound_;
};

// Returns the variant that follows a kernel's definition, one thread an output element. Other
// variants are compared with it bit by bit.
plan::Variant scalar_variant(const sema::KernelPtr& kernel);

// Returns whether a variant, or a launch before it, computes reductions one thread an output
// element at these sizes: what may take a thousand times as long as a plan for the kernel would.
bool reduces_by_scalar_kernel(const plan::Plan& plan, const plan::Variant& variant,
                              const Binding& sizes);

// Returns how many K elements tensor cores add up before the sum goes on in f32; 0 for all of K.
int promotion_interval_of(const plan::Variant& variant);

}  // namespace lay::bench
