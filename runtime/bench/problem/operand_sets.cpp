#include "runtime/bench/problem/operand_sets.h"

#include <algorithm>

namespace lay::bench {

using runtime::DeviceMemory;
using runtime::Region;

namespace {

constexpr std::size_t guard_bytes = 4096;

}  // namespace

OperandSets::OperandSets(const Problem& problem, int sets)
    : problem_(problem), sets_(static_cast<std::size_t>(sets)) {
  for (auto& set : sets_)
    for (const Tensor& tensor : problem.tensors) {
      set.emplace_back(tensor.bytes() + 2 * guard_bytes);
      set.back().fill(0xff);
    }
}

Region OperandSets::region(int set, sema::TensorId tensor) const {
  const DeviceMemory& memory =
      sets_.at(static_cast<std::size_t>(set)).at(static_cast<std::size_t>(tensor));
  return {memory.address() + guard_bytes,
          static_cast<std::int64_t>(memory.bytes() - 2 * guard_bytes)};
}

void OperandSets::upload(int set, sema::TensorId tensor, const std::vector<std::byte>& bytes) {
  sets_.at(static_cast<std::size_t>(set))
      .at(static_cast<std::size_t>(tensor))
      .upload(bytes.data(), bytes.size(), guard_bytes);
}

void OperandSets::upload(int set, const HostData& data) {
  for (std::size_t i = 0; i < data.size(); ++i)
    if (problem_.tensors[i].access == sema::Access::output)
      sets_.at(static_cast<std::size_t>(set))[i].fill(0xff);
    else
      upload(set, static_cast<sema::TensorId>(i), data[i]);
  runtime::synchronize();
}

void OperandSets::upload(const HostData& data) {
  for (int set = 0; set < count(); ++set) upload(set, data);
}

void OperandSets::copy(int set, sema::TensorId from, sema::TensorId to,
                       runtime::StreamHandle stream) {
  auto& memory = sets_.at(static_cast<std::size_t>(set));
  memory[static_cast<std::size_t>(to)].copy(memory[static_cast<std::size_t>(from)],
                                            stream);  // the guard zones too: all are alike
}

void OperandSets::copy(int set, sema::TensorId from, runtime::DeviceMemory& to,
                       runtime::StreamHandle stream) const {
  to.copy(sets_.at(static_cast<std::size_t>(set))[static_cast<std::size_t>(from)], stream);
}

HostData OperandSets::download(int set) const {
  HostData data(problem_.tensors.size());
  for (std::size_t i = 0; i < data.size(); ++i)
    if (problem_.tensors[i].is_written()) data[i] = download(set, static_cast<sema::TensorId>(i));
  return data;
}

std::vector<std::byte> OperandSets::download(int set, sema::TensorId id) const {
  const Tensor& tensor = problem_.tensors[static_cast<std::size_t>(id)];
  const DeviceMemory& memory =
      sets_.at(static_cast<std::size_t>(set))[static_cast<std::size_t>(id)];
  std::vector<std::byte> guards(guard_bytes), data(tensor.bytes());
  memory.download(data.data(), tensor.bytes(), guard_bytes);
  for (const std::size_t at : {std::size_t{0}, guard_bytes + tensor.bytes()}) {
    memory.download(guards.data(), guard_bytes, at);
    if (!std::all_of(guards.begin(), guards.end(),
                     [](std::byte b) { return b == std::byte{0xff}; }))
      throw NotMeasured("it writes " +
                        std::string(at == 0 ? "before the first" : "behind the last") +
                        " element of " + tensor.name);
  }
  return data;
}

}  // namespace lay::bench
