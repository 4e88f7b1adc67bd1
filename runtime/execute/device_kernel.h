// A kernel on a GPU, on memory that the caller has there: planned for the device, each variant
// compiled when a launch takes it first, launched on the caller's stream.
//
//   DeviceKernel kernel(sources, product, *gpu);
//   const Binding sizes = kernel.sizes_of(tensors, {});       from shapes and strides
//   const DeviceKernel::Choice taken = kernel.choose(sizes, tensors);
//   const BoundLaunches bound = kernel.bind(taken, sizes, scalars, tensors, workspace);
//   kernel.launch(bound, stream);                             again and again
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontend/sema/kernel/kernel_call.h"
#include "runtime/execute/lowered_plan.h"
#include "runtime/gpu/gpu.h"

namespace lay::runtime {

// A tensor in the device's memory. An output that is not made yet lies nowhere, at address 0.
struct DeviceTensor {
  std::optional<sema::Lying> lying;
  std::uint64_t address = 0;
};

class DeviceKernel {
 public:
  // Plans the kernel for the device: DiagnosticError where it cannot be. Sources and GPU outlive
  // it.
  DeviceKernel(const Sources& sources, const sema::KernelPtr& kernel, Gpu& gpu);

  const sema::Kernel& kernel() const { return *lowered_.plan().kernel; }

  // The sizes of a call, whose guards hold. Refusals of sema::solve_sizes_in_memory and
  // check_guards.
  Binding sizes_of(const std::vector<DeviceTensor>& tensors,
                   const std::map<std::string, std::int64_t>& set) const;

  // What a launch takes.
  struct Choice {
    const plan::Variant* variant = nullptr;
    const Launches* launches = nullptr;
    std::vector<const GpuKernel*> prepared;
    std::int64_t workspace = 0;  // bytes
  };
  // The first variant, in the launcher's order, that takes the sizes and the addresses; a tensor at
  // address 0 will be aligned as the driver aligns memory. Compiles it. Refusal with the status's
  // name where none can be taken.
  Choice choose(const Binding& sizes, const std::vector<DeviceTensor>& tensors);

  // The launches with these arguments, checked; none where no output has an element. The workspace
  // has choice.workspace bytes at least and is in use until a launch is done. Refusal with the
  // status's name: what a launch checks. What is bound lives no longer than this.
  BoundLaunches bind(const Choice& choice, const Binding& sizes,
                     const std::vector<sema::Number>& scalars,
                     const std::vector<DeviceTensor>& tensors, const Region& workspace) const;

  // Launches on the stream and returns before it is done. Refusal where the driver fails.
  void launch(const BoundLaunches& bound, StreamHandle stream) const;

 private:
  const std::vector<const GpuKernel*>& prepared(const Launches& launches);
  bool is_aligned(const plan::Variant& variant, const std::vector<DeviceTensor>& tensors) const;

  Gpu& gpu_;
  LoweredPlan lowered_;
  // Launches of lowered_ that are loaded.
  std::map<const Launches*, std::vector<const GpuKernel*>> prepared_;
};

}  // namespace lay::runtime
