// Kernels of the IR on the first GPU of the machine: emitted, compiled through the cache, loaded
// once, checked, launched.
//
//   std::string why;
//   if (std::unique_ptr<Gpu> gpu = Gpu::open(&why)) {
//     GpuRun run = gpu->run(kernel, sizes, scalars, {x_bytes, y_bytes});   in host memory
//   }
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/compile/cache.h"
#include "runtime/compile/compile.h"
#include "runtime/gpu/bound_launches.h"
#include "runtime/gpu/driver.h"
#include "runtime/gpu/launches.h"
#include "runtime/gpu/tensor_map.h"

namespace lay::runtime {

// A kernel in the device's memory.
struct GpuKernel {
  cuda::Emitted emitted;
  Compilation compilation;
  LoadedKernel loaded;
  int resident_clusters = 0;  // of a persistent kernel, that the device holds at once; 0: not known
};

// Memory of the host for the buffers of launches, and scalars, by name.
struct HostArguments {
  Binding sizes;
  std::map<std::string, std::variant<std::int64_t, double>> scalars;
  std::map<std::string, std::vector<std::byte>*> tensors;
};

// The result of running launches.
struct GpuRun {
  Outcome outcome;
  double milliseconds = 0;  // of all launches, between two events
  // The last; null where nothing was launched.
  const GpuKernel* kernel = nullptr;
};

// A GPU of the machine, with its cache of loaded kernels and its workspace.
class Gpu {
 public:
  // The GPU of that number, from 0. Null where there is none, or nothing that compiles for it: then
  // `why_not` says what is missing.
  static std::unique_ptr<Gpu> open(std::string* why_not = nullptr, int ordinal = 0);

  // The device, and the description that kernels are planned for.
  const Device& device() const { return device_; }
  const Target& target() const { return target_; }  // with the device's own number of SMs
  // Returns the limits that launches are checked against.
  LaunchLimits limits() const;

  // Emitted, compiled and loaded, the first time; null with the reason in `outcome`.
  const GpuKernel* prepare(const ir::Kernel& kernel, Outcome& outcome);

  // The same of every launch; empty with the reason in `outcome`.
  std::vector<const GpuKernel*> prepare(const Launches& launches, Outcome& outcome);

  // All launches of a variant on memory of the device, checked: nothing is launched yet. Workspace
  // buffers too are given. The Gpu outlives what is bound.
  BoundLaunches bind(const Launches& launches, const std::vector<const GpuKernel*>& prepared,
                     const NamedArguments& arguments, Outcome& outcome) const;

  // One behind the other on the stream; returns before they are done.
  Outcome launch(const BoundLaunches& bound, StreamHandle stream = nullptr) const;

  // Bound and launched, once.
  Outcome launch(const ir::Kernel& kernel, const GpuKernel& prepared,
                 const LaunchArguments& arguments, StreamHandle stream = nullptr) const;

  // On memory of the host, one vector a global buffer that is no workspace, copied there and, where
  // written, back.
  GpuRun run(const ir::Kernel& kernel, const Binding& sizes,
             const std::vector<std::variant<std::int64_t, double>>& scalars,
             std::vector<std::vector<std::byte>>& memory);

  // The same of all launches of a variant, by name.
  GpuRun run(const Launches& launches, const HostArguments& arguments);

  // Memory for what launches hand on: as many bytes at least, the same memory in every call, which
  // therefore must not be in use by a launch of the last. Given back with the Gpu.
  // Status::out_of_memory where the device has not so much.
  Outcome reserve_workspace(std::int64_t bytes, Region& workspace);

 private:
  Gpu(Target target, int ordinal) : device_(ordinal), target_(std::move(target)) {}

  // Checks one launch and adds it to those that are bound.
  Outcome bind(const ir::Kernel& kernel, const GpuKernel& prepared,
               const LaunchArguments& arguments, BoundLaunches& to) const;

  Device device_;
  Target target_;
  Cache cache_;
  // By emitted text.
  std::map<std::string, GpuKernel> kernels_;
  mutable TensorMaps maps_;
  DeviceMemory workspace_;
};

}  // namespace lay::runtime
