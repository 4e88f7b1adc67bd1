// The launches of one variant and the arguments that they share: each takes from them what it
// names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backend/ir/ir.h"
#include "runtime/gpu/launch_check.h"

namespace lay::runtime {

// In order, the one that gives the variant its name last.
using Launches = std::vector<ir::Kernel>;

struct NamedArguments {
  Binding sizes;
  std::map<std::string, std::variant<std::int64_t, double>> scalars;
  std::map<std::string, Region> tensors;
  Region workspace;  // of workspace_bytes bytes at least, aligned to plan::workspace_alignment; any
                     // contents
};

// Returns the bytes that all launches together need at these sizes; nothing where that overflows.
std::optional<std::int64_t> workspace_bytes(const Launches& launches, const Binding& sizes);

// Returns the arguments of one of them. An argument that was not given is left out, which the check
// of the launch will say.
LaunchArguments arguments_of(const ir::Kernel& kernel, const NamedArguments& named);

}  // namespace lay::runtime
