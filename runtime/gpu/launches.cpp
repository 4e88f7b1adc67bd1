#include "runtime/gpu/launches.h"

#include <algorithm>

namespace lay::runtime {

std::optional<std::int64_t> workspace_bytes(const Launches& launches, const Binding& sizes) {
  std::int64_t end = 0;
  for (const ir::Kernel& kernel : launches) {
    for (const ir::Buffer& buffer : kernel.buffers) {
      if (!buffer.workspace) continue;
      const auto offset = buffer.offset.evaluate(sizes);
      const auto span = span_of(buffer, sizes);
      std::int64_t here = 0;
      if (!offset || !span || __builtin_add_overflow(*offset, span->bytes, &here))
        return std::nullopt;
      end = std::max(end, here);
    }
  }
  return end;
}

LaunchArguments arguments_of(const ir::Kernel& kernel, const NamedArguments& named) {
  LaunchArguments made{named.sizes, {}, {}};
  for (const ir::Param& param : kernel.params) {
    if (param.is_size) continue;
    const auto found = named.scalars.find(param.name);
    if (found == named.scalars.end()) break;
    made.scalars.push_back(found->second);
  }
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (buffer.space != ir::Space::global) continue;
    if (buffer.workspace) {
      const std::int64_t offset = buffer.offset.evaluate(named.sizes).value_or(0);
      const std::int64_t left = std::max<std::int64_t>(0, named.workspace.bytes - offset);
      made.buffers.push_back({named.workspace.address + static_cast<std::uint64_t>(offset), left});
      continue;
    }
    const auto found = named.tensors.find(buffer.name);
    if (found == named.tensors.end()) break;
    made.buffers.push_back(found->second);
  }
  return made;
}

}  // namespace lay::runtime
