#include "runtime/gpu/gpu.h"

#include <algorithm>
#include <utility>

#include "runtime/gpu/device.h"

namespace lay::runtime {
namespace {

Outcome failed(const DriverError& error) {
  return {error.status == 100 ? Status::no_device : Status::device_failed, error.text};
}

}  // namespace

std::unique_ptr<Gpu> Gpu::open(std::string* why_not, int ordinal) {
  const std::optional<Target> target = device_target(why_not, ordinal);
  if (!target || !can_compile(why_not)) return nullptr;
  try {
    return std::unique_ptr<Gpu>(new Gpu(*target, ordinal));
  } catch (const DriverError& error) {
    if (why_not) *why_not = error.text;
    return nullptr;
  }
}

LaunchLimits Gpu::limits() const {
  return {{device_.grid_limit[0], device_.grid_limit[1], device_.grid_limit[2]},
          device_.threads_per_block,
          device_.shared_per_block};
}

const GpuKernel* Gpu::prepare(const ir::Kernel& kernel, Outcome& outcome) {
  const auto result = cuda::emit(kernel, target_);
  if (const auto* problem = std::get_if<cuda::Problem>(&result)) {
    outcome = {Status::unsupported, problem->message};
    return nullptr;
  }
  const auto& emitted = std::get<cuda::Emitted>(result);
  if (const auto found = kernels_.find(emitted.text); found != kernels_.end())
    return &found->second;
  CompileOptions options;
  options.cache = &cache_;
  options.file = kernel.name + ".cu";
  Compilation made = compile(emitted, target_, options);
  if (!made.ok()) {
    const auto& first = made.messages.front();
    outcome = {Status::compile_failed,
               made.compiler + " refuses the emitted text" +
                   (first.script_line ? ", for line " + std::to_string(first.script_line) : "") +
                   ": " + first.text};
    return nullptr;
  }
  try {
    LoadedKernel loaded(made.image, emitted.function, emitted.dynamic_bytes);
    const int clusters =
        kernel.launch.persistent
            ? loaded.resident_clusters(kernel.launch.cluster[0], kernel.launch.threads)
            : 0;
    GpuKernel ready{emitted, std::move(made), std::move(loaded), clusters};
    return &kernels_.emplace(emitted.text, std::move(ready)).first->second;
  } catch (const DriverError& error) {
    outcome = failed(error);
    return nullptr;
  }
}

Outcome Gpu::bind(const ir::Kernel& kernel, const GpuKernel& prepared,
                  const LaunchArguments& arguments, BoundLaunches& to) const {
  const Checked checked = check_launch(kernel, arguments, limits(), prepared.emitted.shared_bytes);
  if (!checked.outcome.ok() || checked.nothing_to_do) return checked.outcome;
  Parameters values(kernel, arguments);
  auto grid = checked.grid;
  if (prepared.resident_clusters > 0)
    grid[0] = std::min<std::int64_t>(
        grid[0], std::int64_t{prepared.resident_clusters} * kernel.launch.cluster[0]);
  try {
    for (const ir::TensorMap& map : kernel.tensor_maps) {
      const auto before =
          std::count_if(kernel.buffers.begin(), kernel.buffers.begin() + map.tensor.index,
                        [](const ir::Buffer& b) { return b.space == ir::Space::global; });
      values.add_map(maps_.find(kernel, map, arguments.sizes,
                                arguments.buffers.at(static_cast<size_t>(before)).address));
    }
  } catch (const DriverError& error) {
    return failed(error);
  }
  to.add(prepared.loaded, grid, kernel, prepared.emitted.overlaps, std::move(values));
  return {};
}

BoundLaunches Gpu::bind(const Launches& launches, const std::vector<const GpuKernel*>& prepared,
                        const NamedArguments& arguments, Outcome& outcome) const {
  BoundLaunches bound;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    outcome = bind(launches[i], *prepared.at(i), arguments_of(launches[i], arguments), bound);
    if (!outcome.ok()) return {};
  }
  return bound;
}

std::vector<const GpuKernel*> Gpu::prepare(const Launches& launches, Outcome& outcome) {
  std::vector<const GpuKernel*> prepared;
  for (const ir::Kernel& kernel : launches) {
    prepared.push_back(prepare(kernel, outcome));
    if (!prepared.back()) return {};
  }
  return prepared;
}

Outcome Gpu::launch(const ir::Kernel& kernel, const GpuKernel& prepared,
                    const LaunchArguments& arguments, StreamHandle stream) const {
  BoundLaunches bound;
  Outcome outcome = bind(kernel, prepared, arguments, bound);
  return outcome.ok() ? launch(bound, stream) : outcome;
}

Outcome Gpu::launch(const BoundLaunches& bound, StreamHandle stream) const {
  try {
    bound.launch(stream);
  } catch (const DriverError& error) {
    return failed(error);
  }
  return {};
}

Outcome Gpu::reserve_workspace(std::int64_t bytes, Region& workspace) {
  constexpr int no_memory_left = 2;  // CUDA_ERROR_OUT_OF_MEMORY
  try {
    if (std::cmp_less(workspace_.bytes(), bytes)) {
      workspace_ = {};  // before there is more, for both may be too much
      workspace_ = DeviceMemory(static_cast<std::size_t>(bytes));
    }
  } catch (const DriverError& error) {
    if (error.status != no_memory_left) return failed(error);
    return {Status::out_of_memory, "the device has no memory for a workspace of " +
                                       std::to_string(bytes) +
                                       " bytes, into which operands are copied: " + error.text};
  }
  workspace = {workspace_.address(), static_cast<std::int64_t>(workspace_.bytes())};
  return {};
}

GpuRun Gpu::run(const ir::Kernel& kernel, const Binding& sizes,
                const std::vector<std::variant<std::int64_t, double>>& scalars,
                std::vector<std::vector<std::byte>>& memory) {
  HostArguments arguments{sizes, {}, {}};
  std::size_t scalar = 0, given = 0;
  for (const ir::Param& param : kernel.params) {
    if (!param.is_size && scalar < scalars.size())
      arguments.scalars[param.name] = scalars[scalar++];
  }
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (buffer.space == ir::Space::global && !buffer.workspace)
      arguments.tensors[buffer.name] = &memory.at(given++);
  }
  return run(Launches{kernel}, arguments);
}

GpuRun Gpu::run(const Launches& launches, const HostArguments& host) {
  GpuRun run;
  const auto prepared = prepare(launches, run.outcome);
  if (prepared.empty()) return run;
  run.kernel = prepared.back();
  try {
    device_.use();
    NamedArguments arguments{host.sizes, host.scalars, {}, {}};
    const auto workspace = workspace_bytes(launches, host.sizes);
    if (!workspace) {
      run.outcome = {Status::extent_too_large, "the workspace does not fit 64 bits at these sizes"};
    } else {
      run.outcome = reserve_workspace(*workspace, arguments.workspace);
    }
    if (!run.outcome.ok()) return run;
    std::map<std::string, DeviceMemory> copies;
    for (const auto& [name, memory] : host.tensors) {
      DeviceMemory& copy = copies.emplace(name, memory->size()).first->second;
      copy.upload(memory->data(), memory->size());
      arguments.tensors[name] = {copy.address(), static_cast<std::int64_t>(memory->size())};
    }
    const BoundLaunches bound = bind(launches, prepared, arguments, run.outcome);
    if (!run.outcome.ok()) return run;
    const Event begin, end;
    begin.record();
    run.outcome = launch(bound);
    end.record();
    if (!run.outcome.ok()) return run;
    end.wait();
    synchronize();
    run.milliseconds = end.milliseconds_since(begin);
    for (const ir::Kernel& kernel : launches) {
      for (const ir::Buffer& buffer : kernel.buffers) {
        if (buffer.space != ir::Space::global || buffer.workspace || !buffer.written) continue;
        auto& memory = *host.tensors.at(buffer.name);
        copies.at(buffer.name).download(memory.data(), memory.size());
      }
    }
  } catch (const DriverError& error) {
    run.outcome = failed(error);
  }
  return run;
}

}  // namespace lay::runtime
