// The fixed tables of helper functions.
#pragma once

#include <span>
#include <string_view>

namespace lay::cuda {

// A device function or type that kernels need.
struct Helper {
  std::string_view name, definition;
  // The least that has its instructions.
  int capability = 80;
};

// Barriers, asynchronous copies and descriptors, in the order in which a text defines them.
std::span<const Helper> machine_helpers();

}  // namespace lay::cuda
