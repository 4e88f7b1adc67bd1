#include "runtime/bench/compiled_kernel.h"

#include <algorithm>

#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "runtime/execute/stages.h"

namespace lay::bench {

using runtime::DeviceMemory;

namespace {

sema::TensorId tensor_named(const Problem& problem, const std::string& name) {
  for (std::size_t i = 0; i < problem.tensors.size(); ++i)
    if (problem.tensors[i].name == name) return static_cast<sema::TensorId>(i);
  throw std::logic_error("internal: the lowered kernel has a tensor `" + name +
                         "` that the script's kernel has not");
}

}  // namespace

CompiledKernel::CompiledKernel(runtime::Gpu& gpu, const Sources& sources, const Problem& problem,
                               const plan::Plan& plan, const plan::Variant& variant)
    : CompiledKernel(gpu, problem,
                     runtime::lowered(sources, plan, plan::at_sizes(variant, problem.sizes))) {
  name_ = variant.name;
}

CompiledKernel::CompiledKernel(runtime::Gpu& gpu, const Problem& problem,
                               runtime::Launches launches)
    : gpu_(gpu), name_(launches.back().name), launches_(std::move(launches)) {
  runtime::Outcome outcome;
  prepared_ = gpu.prepare(launches_, outcome);
  if (prepared_.empty()) throw NotMeasured(outcome.message);
  arguments_.sizes = problem.sizes;
  for (const ir::Kernel& kernel : launches_) {
    for (const ir::Param& param : kernel.params) {
      if (param.is_size) {  // the IR may have a symbol of its own for a size: names decide
        for (const auto& [name, value] : problem.named_sizes())
          if (name == param.name) arguments_.sizes[*param.symbol.dim_id()] = value;
        continue;
      }
      for (std::size_t i = 0; i < problem.kernel->scalars.size(); ++i)
        if (problem.kernel->scalars[i].name == param.name)
          arguments_.scalars[param.name] = problem.scalars[i];
    }
    for (const ir::Buffer& buffer : kernel.buffers)
      if (buffer.space == ir::Space::global && !buffer.workspace)
        tensors_[buffer.name] = tensor_named(problem, buffer.name);
  }
  const auto bytes = runtime::workspace_bytes(launches_, arguments_.sizes);
  if (!bytes) throw NotMeasured("its workspace does not fit 64 bits at these sizes");
  try {
    workspace_ = DeviceMemory(static_cast<std::size_t>(*bytes));
  } catch (const runtime::DriverError& error) {
    throw NotMeasured("its workspace of " + std::to_string(*bytes) + " bytes: " + error.text);
  }
  arguments_.workspace = {workspace_.address(), *bytes};
}

double CompiledKernel::compile_seconds() const {
  double seconds = 0;
  for (const runtime::GpuKernel* kernel : prepared_) seconds += kernel->compilation.seconds;
  return seconds;
}

void CompiledKernel::launch(const OperandSets& sets, int set, runtime::StreamHandle stream) const {
  std::vector<runtime::Address> addresses;
  for (const auto& [name, tensor] : tensors_) addresses.push_back(sets.region(set, tensor).address);
  auto found = bound_.find(addresses);
  if (found == bound_.end()) found = bound_.emplace(std::move(addresses), bind(sets, set)).first;
  const runtime::Outcome outcome = gpu_.launch(found->second, stream);
  if (!outcome.ok()) throw NotMeasured(outcome.message);
}

runtime::BoundLaunches CompiledKernel::bind(const OperandSets& sets, int set) const {
  runtime::NamedArguments arguments = arguments_;
  for (const auto& [name, tensor] : tensors_) arguments.tensors[name] = sets.region(set, tensor);
  runtime::Outcome outcome;
  auto bound = gpu_.bind(launches_, prepared_, arguments, outcome);
  if (!outcome.ok()) throw NotMeasured(outcome.message);
  return bound;
}

plan::Variant scalar_variant(const sema::KernelPtr& kernel) {
  plan::Variant variant;
  variant.name = "scalar";
  variant.programs = tile::bind_each_element(kernel);
  return variant;
}

bool reduces_by_scalar_kernel(const plan::Plan& plan, const plan::Variant& variant,
                              const Binding& sizes) {
  const sema::Kernel& kernel = plan::executed(plan, variant);
  if (plan::runs_each_element(variant)) {
    const auto live = plan::reachable(kernel);
    for (std::size_t id = 0; id < live.size(); ++id)
      if (live[id] && std::holds_alternative<sema::Reduce>(kernel.nodes[id].what)) return true;
  }
  return std::any_of(variant.before.begin(), variant.before.end(), [&](const auto& before) {
    const auto fitting = plan::fitting_variants(*before, sizes);
    return !fitting.empty() && reduces_by_scalar_kernel(*before, *fitting.front(), sizes);
  });
}

int promotion_interval_of(const plan::Variant& variant) {
  if (const auto gemm = plan::sm90_of(variant)) return gemm->promotion_interval;
  if (const auto gemm = plan::sm80_of(variant)) return gemm->promotion_interval;
  return 0;
}

}  // namespace lay::bench
