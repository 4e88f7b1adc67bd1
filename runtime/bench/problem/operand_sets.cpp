#include "runtime/bench/problem/operand_sets.h"

#include <algorithm>

namespace lay::bench {

using runtime::DeviceMemory;
using runtime::Region;

namespace {

constexpr std::size_t guard_bytes = 4096;

// Elements of 4 bits as the host has them, of those that share bytes on the GPU.
std::vector<std::byte> taken_apart(const Tensor& tensor, const std::vector<std::byte>& joined) {
  std::vector<std::byte> apart(tensor.bytes());
  for (std::size_t i = 0; i < apart.size(); ++i) {
    const int half = std::to_integer<int>(joined[i / 2] >> (i % 2 * 4)) & 15;
    const bool is_negative = is_signed(tensor.element) && half > 7;
    apart[i] = static_cast<std::byte>(is_negative ? half - 16 : half);
  }
  return apart;
}

}  // namespace

OperandSets::OperandSets(const Problem& problem, int sets)
    : problem_(problem), sets_(static_cast<std::size_t>(sets)) {
  for (auto& set : sets_)
    for (const Tensor& tensor : problem.tensors) {
      set.emplace_back(tensor.device_bytes() + 2 * guard_bytes);
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
  const ElementType element = problem_.tensors.at(static_cast<std::size_t>(tensor)).element;
  const auto upload = [&](const std::vector<std::byte>& there) {
    sets_.at(static_cast<std::size_t>(set))
        .at(static_cast<std::size_t>(tensor))
        .upload(there.data(), there.size(), guard_bytes);
  };
  if (is_half_byte(element))
    upload(sema::on_device(element, bytes));
  else
    upload(bytes);
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
  std::vector<std::byte> guards(guard_bytes), data(tensor.device_bytes());
  memory.download(data.data(), data.size(), guard_bytes);
  for (const std::size_t at : {std::size_t{0}, guard_bytes + data.size()}) {
    memory.download(guards.data(), guard_bytes, at);
    if (!std::all_of(guards.begin(), guards.end(),
                     [](std::byte b) { return b == std::byte{0xff}; }))
      throw NotMeasured("it writes " +
                        std::string(at == 0 ? "before the first" : "behind the last") +
                        " element of " + tensor.name);
  }
  return is_half_byte(tensor.element) ? taken_apart(tensor, data) : data;
}

}  // namespace lay::bench
