// The fixed tables of helper functions.
#pragma once

#include <span>
#include <string_view>

namespace lay::cuda {

struct Helper {
  std::string_view name, definition;
  int capability = 80;  // the least that has its instructions
};

// Barriers, asynchronous copies and descriptors, in the order in which a text defines them.
std::span<const Helper> machine_helpers();

}  // namespace lay::cuda
