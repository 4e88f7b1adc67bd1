#include "runtime/execute/device_kernel.h"

#include <algorithm>
#include <utility>

#include "backend/plan/schedule/fitting.h"
#include "frontend/algebra/support/refusal.h"
#include "runtime/execute/stages.h"

namespace lay::runtime {
namespace {

[[noreturn]] void refuse(const Outcome& outcome) {
  throw refusal(std::string(status_name(outcome.status)), outcome.message);
}

bool has_no_output(const sema::Kernel& kernel, const Binding& sizes) {
  return std::all_of(kernel.tensors.begin(), kernel.tensors.end(), [&](const sema::Tensor& tensor) {
    return tensor.access == sema::Access::input || sema::memory_elements(tensor, sizes) == 0;
  });
}

}  // namespace

DeviceKernel::DeviceKernel(const Sources& sources, const sema::KernelPtr& kernel, Gpu& gpu)
    : gpu_(gpu), lowered_(sources, planned(kernel, gpu.target())) {}

Binding DeviceKernel::sizes_of(const std::vector<DeviceTensor>& tensors,
                               const std::map<std::string, std::int64_t>& set) const {
  std::vector<std::optional<sema::Lying>> lying;
  for (const DeviceTensor& tensor : tensors) lying.push_back(tensor.lying);
  Binding sizes = sema::solve_sizes_in_memory(kernel(), lying, set);
  sema::check_guards(kernel(), sizes);
  return sizes;
}

bool DeviceKernel::is_aligned(const plan::Variant& variant,
                              const std::vector<DeviceTensor>& tensors) const {
  return std::all_of(
      variant.aligned.begin(), variant.aligned.end(), [&](const plan::Alignment& alignment) {
        const auto tensor = static_cast<std::size_t>(alignment.tensor);
        return tensor >= tensors.size() ||
               tensors[tensor].address % static_cast<std::uint64_t>(alignment.bytes) == 0;
      });
}

DeviceKernel::Choice DeviceKernel::choose(const Binding& sizes,
                                          const std::vector<DeviceTensor>& tensors) {
  for (const plan::Variant* variant : plan::fitting_variants(lowered_.plan(), sizes)) {
    if (!is_aligned(*variant, tensors)) continue;
    Choice choice{variant, &lowered_.at(*variant, sizes), {}, 0};
    const auto workspace = workspace_bytes(*choice.launches, sizes);
    if (!workspace)
      refuse({Status::extent_too_large, "the workspace does not fit 64 bits at these sizes"});
    choice.workspace = *workspace;
    choice.prepared = prepared(*choice.launches);
    return choice;
  }
  refuse(
      {Status::no_variant, "no variant of " + kernel().name + " takes these sizes and addresses"});
}

const std::vector<const GpuKernel*>& DeviceKernel::prepared(const Launches& launches) {
  const auto known = prepared_.find(&launches);
  if (known != prepared_.end()) return known->second;
  gpu_.device().use();
  Outcome outcome;
  std::vector<const GpuKernel*> made = gpu_.prepare(launches, outcome);
  if (made.empty()) refuse(outcome);
  return prepared_.emplace(&launches, std::move(made)).first->second;
}

BoundLaunches DeviceKernel::bind(const Choice& choice, const Binding& sizes,
                                 const std::vector<sema::Number>& scalars,
                                 const std::vector<DeviceTensor>& tensors,
                                 const Region& workspace) const {
  if (has_no_output(kernel(), sizes)) return {};
  NamedArguments arguments{sizes, {}, {}, workspace};
  for (std::size_t i = 0; i < kernel().scalars.size() && i < scalars.size(); ++i)
    arguments.scalars[kernel().scalars[i].name] = scalars[i];
  for (std::size_t i = 0; i < kernel().tensors.size() && i < tensors.size(); ++i) {
    const sema::Tensor& tensor = kernel().tensors[i];
    // What the caller has there no launcher can see: as much as the layout spans.
    const std::int64_t bytes = sema::memory_bytes(tensor, sizes);
    arguments.tensors[tensor.name] = {tensors[i].address, bytes};
  }
  gpu_.device().use();
  Outcome outcome;
  BoundLaunches bound = gpu_.bind(*choice.launches, choice.prepared, arguments, outcome);
  if (!outcome.ok()) refuse(outcome);
  return bound;
}

void DeviceKernel::launch(const BoundLaunches& bound, StreamHandle stream) const {
  gpu_.device().use();
  if (const Outcome outcome = gpu_.launch(bound, stream); !outcome.ok()) refuse(outcome);
}

}  // namespace lay::runtime
