#include "runtime/bench/subject.h"

#include <algorithm>

#include "runtime/execute/stages.h"

namespace lay::bench {

using runtime::DeviceMemory;
using runtime::Region;

namespace {

constexpr std::size_t guard_bytes = 4096;

sema::TensorId tensor_named(const Problem& problem, const std::string& name) {
  for (std::size_t i = 0; i < problem.tensors.size(); ++i)
    if (problem.tensors[i].name == name) return static_cast<sema::TensorId>(i);
  throw std::logic_error("internal: the lowered kernel has a `" + name +
                         "` that the script's has not");
}

}  // namespace

DeviceSets::DeviceSets(const Problem& problem, int sets)
    : problem_(problem), sets_(static_cast<std::size_t>(sets)) {
  for (auto& set : sets_)
    for (const Tensor& tensor : problem.tensors) {
      set.emplace_back(tensor.bytes() + 2 * guard_bytes);
      set.back().fill(0xff);
    }
}

Region DeviceSets::region(int set, sema::TensorId tensor) const {
  const DeviceMemory& memory =
      sets_.at(static_cast<std::size_t>(set)).at(static_cast<std::size_t>(tensor));
  return {memory.address() + guard_bytes,
          static_cast<std::int64_t>(memory.bytes() - 2 * guard_bytes)};
}

void DeviceSets::upload(int set, sema::TensorId tensor, const std::vector<std::byte>& bytes) {
  sets_.at(static_cast<std::size_t>(set))
      .at(static_cast<std::size_t>(tensor))
      .upload(bytes.data(), bytes.size(), guard_bytes);
}

void DeviceSets::upload(int set, const HostData& data) {
  for (std::size_t i = 0; i < data.size(); ++i)
    if (problem_.tensors[i].access == sema::Access::output)
      sets_.at(static_cast<std::size_t>(set))[i].fill(0xff);
    else
      upload(set, static_cast<sema::TensorId>(i), data[i]);
  runtime::synchronize();
}

void DeviceSets::upload(const HostData& data) {
  for (int set = 0; set < count(); ++set) upload(set, data);
}

void DeviceSets::copy(int set, sema::TensorId from, sema::TensorId to,
                      runtime::StreamHandle stream) {
  auto& memory = sets_.at(static_cast<std::size_t>(set));
  memory[static_cast<std::size_t>(to)].copy(memory[static_cast<std::size_t>(from)],
                                            stream);  // guards are alike
}

HostData DeviceSets::download(int set) const {
  HostData data(problem_.tensors.size());
  for (std::size_t i = 0; i < data.size(); ++i)
    if (problem_.tensors[i].is_written()) data[i] = download(set, static_cast<sema::TensorId>(i));
  return data;
}

std::vector<std::byte> DeviceSets::download(int set, sema::TensorId id) const {
  const Tensor& tensor = problem_.tensors[static_cast<std::size_t>(id)];
  const DeviceMemory& memory =
      sets_.at(static_cast<std::size_t>(set))[static_cast<std::size_t>(id)];
  std::vector<std::byte> guards(guard_bytes), data(tensor.bytes());
  memory.download(data.data(), tensor.bytes(), guard_bytes);
  for (const std::size_t at : {std::size_t{0}, guard_bytes + tensor.bytes()}) {
    memory.download(guards.data(), guard_bytes, at);
    if (!std::all_of(guards.begin(), guards.end(),
                     [](std::byte b) { return b == std::byte{0xff}; }))
      throw NotMeasured("it writes " + std::string(at == 0 ? "before" : "behind") +
                        " the memory of " + tensor.name);
  }
  return data;
}

Subject::Subject(runtime::Gpu& gpu, const Sources& sources, const Problem& problem,
                 const plan::Plan& plan, const plan::Variant& variant)
    : Subject(gpu, problem, runtime::lowered(sources, plan, variant)) {
  name_ = variant.name;
}

Subject::Subject(runtime::Gpu& gpu, const Problem& problem, runtime::Launches launches)
    : gpu_(gpu), name_(launches.back().name), launches_(std::move(launches)) {
  runtime::Outcome outcome;
  prepared_ = gpu.prepare(launches_, outcome);
  if (prepared_.empty()) throw NotMeasured(outcome.message);
  arguments_.sizes = problem.sizes;
  for (const ir::Kernel& kernel : launches_) {
    for (const ir::Param& param : kernel.params) {
      if (param.is_size) {  // which may be another symbol of that name
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
    throw NotMeasured("a workspace of " + std::to_string(*bytes) + " bytes: " + error.text);
  }
  arguments_.workspace = {workspace_.address(), *bytes};
}

double Subject::compile_seconds() const {
  double seconds = 0;
  for (const runtime::GpuKernel* kernel : prepared_) seconds += kernel->compilation.seconds;
  return seconds;
}

void Subject::launch(const DeviceSets& sets, int set, runtime::StreamHandle stream) const {
  std::vector<runtime::Address> addresses;
  for (const auto& [name, tensor] : tensors_) addresses.push_back(sets.region(set, tensor).address);
  auto found = bound_.find(addresses);
  if (found == bound_.end()) found = bound_.emplace(std::move(addresses), bind(sets, set)).first;
  const runtime::Outcome outcome = gpu_.launch(found->second, stream);
  if (!outcome.ok()) throw NotMeasured(outcome.message);
}

runtime::BoundLaunches Subject::bind(const DeviceSets& sets, int set) const {
  runtime::NamedArguments arguments = arguments_;
  for (const auto& [name, tensor] : tensors_) arguments.tensors[name] = sets.region(set, tensor);
  runtime::Outcome outcome;
  auto bound = gpu_.bind(launches_, prepared_, arguments, outcome);
  if (!outcome.ok()) throw NotMeasured(outcome.message);
  return bound;
}

plan::Variant plain_variant() {
  plan::Variant variant;
  variant.name = "plain";
  variant.how = plan::ScalarKernel{};
  return variant;
}

int accumulate_of(const plan::Variant& variant) {
  const auto* gemm = std::get_if<plan::Sm90Gemm>(&variant.how);
  return gemm ? gemm->promotion_interval : 0;
}

}  // namespace lay::bench
