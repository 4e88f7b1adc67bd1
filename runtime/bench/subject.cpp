#include "runtime/bench/subject.h"

#include <algorithm>

#include "runtime/stages.h"

namespace lay::bench {

using runtime::DeviceMemory;
using runtime::Region;

namespace {

constexpr std::size_t guard_bytes = 4096;

sema::TensorId tensor_named(const Problem& problem, const std::string& name) {
  for (std::size_t i = 0; i < problem.tensors.size(); ++i)
    if (problem.tensors[i].name == name) return static_cast<sema::TensorId>(i);
  throw std::logic_error("internal: the lowered kernel has a `" + name + "` that the script's has not");
}

}  // namespace

DeviceSets::DeviceSets(const Problem& problem, int sets) : problem_(problem), sets_(static_cast<std::size_t>(sets)) {
  for (auto& set : sets_)
    for (const Tensor& tensor : problem.tensors) {
      set.emplace_back(tensor.bytes() + 2 * guard_bytes);
      set.back().fill(0xff);
    }
}

Region DeviceSets::region(int set, sema::TensorId tensor) const {
  const DeviceMemory& memory = sets_.at(static_cast<std::size_t>(set)).at(static_cast<std::size_t>(tensor));
  return {memory.address() + guard_bytes, static_cast<std::int64_t>(memory.bytes() - 2 * guard_bytes)};
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

void DeviceSets::copy(int set, sema::TensorId from, sema::TensorId to, runtime::StreamHandle stream) {
  auto& memory = sets_.at(static_cast<std::size_t>(set));
  memory[static_cast<std::size_t>(to)].copy(memory[static_cast<std::size_t>(from)], stream);  // guards are alike
}

HostData DeviceSets::download(int set) const {
  HostData data(problem_.tensors.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    const Tensor& tensor = problem_.tensors[i];
    if (!tensor.is_written()) continue;
    const DeviceMemory& memory = sets_.at(static_cast<std::size_t>(set))[i];
    std::vector<std::byte> guards(guard_bytes);
    data[i].resize(tensor.bytes());
    memory.download(data[i].data(), tensor.bytes(), guard_bytes);
    for (const std::size_t at : {std::size_t{0}, guard_bytes + tensor.bytes()}) {
      memory.download(guards.data(), guard_bytes, at);
      if (!std::all_of(guards.begin(), guards.end(), [](std::byte b) { return b == std::byte{0xff}; }))
        throw NotMeasured("it writes " + std::string(at == 0 ? "before" : "behind") + " the memory of " + tensor.name);
    }
  }
  return data;
}

Subject::Subject(runtime::Gpu& gpu, const Sources& sources, const Problem& problem, const plan::Plan& plan,
                 const plan::Variant& variant)
    : Subject(gpu, problem, runtime::lowered(sources, plan, variant)) {
  name_ = variant.name;
}

Subject::Subject(runtime::Gpu& gpu, const Problem& problem, ir::Kernel kernel)
    : gpu_(gpu), name_(kernel.name), kernel_(std::move(kernel)) {
  runtime::Outcome outcome;
  prepared_ = gpu.prepare(kernel_, outcome);
  if (!prepared_) throw NotMeasured(outcome.message);
  arguments_.sizes = problem.sizes;
  for (const ir::Param& param : kernel_.params) {
    if (param.is_size) {  // which may be another symbol of that name
      for (const auto& [name, value] : problem.named_sizes())
        if (name == param.name) arguments_.sizes[*param.symbol.dim_id()] = value;
      continue;
    }
    for (std::size_t i = 0; i < problem.kernel->scalars.size(); ++i)
      if (problem.kernel->scalars[i].name == param.name) arguments_.scalars.push_back(problem.scalars[i]);
  }
  for (const ir::Buffer& buffer : kernel_.buffers) {
    if (buffer.space != ir::Space::global) continue;
    tensors_.push_back(buffer.workspace ? -1 : tensor_named(problem, buffer.name));
    if (!buffer.workspace) continue;
    const auto span = runtime::span_of(buffer, problem.sizes);
    workspace_.emplace_back(static_cast<std::size_t>(span ? span->bytes : 0));
  }
}

void Subject::launch(const DeviceSets& sets, int set, runtime::StreamHandle stream) const {
  runtime::LaunchArguments arguments = arguments_;
  std::size_t next = 0;
  for (const sema::TensorId tensor : tensors_) {
    if (tensor >= 0) {
      arguments.buffers.push_back(sets.region(set, tensor));
      continue;
    }
    const DeviceMemory& memory = workspace_[next++];
    arguments.buffers.push_back({memory.address(), static_cast<std::int64_t>(memory.bytes())});
  }
  const runtime::Outcome outcome = gpu_.launch(kernel_, *prepared_, arguments, stream);
  if (!outcome.ok()) throw NotMeasured(outcome.message);
}

plan::Variant plain_variant() {
  plan::Variant variant;
  variant.name = "plain";
  variant.how = plan::Direct{};
  return variant;
}

std::vector<const plan::Variant*> fitting_variants(const plan::Plan& plan, const Binding& sizes, int capability) {
  std::vector<const plan::Variant*> fitting;
  for (const plan::Variant& variant : plan.variants)
    if ((capability == 0 || variant.capability == 0 || variant.capability == capability) &&
        std::all_of(variant.when.begin(), variant.when.end(),
                    [&](const Predicate& condition) { return condition.evaluate(sizes) == true; }))
      fitting.push_back(&variant);
  return fitting;
}

}  // namespace lay::bench
