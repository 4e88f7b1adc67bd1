// This machine's means to run kernels, and what it lacks and why: the text of `lay doctor`, and the
// choice between GPU and host.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/target/target.h"

namespace lay::runtime {

struct Finding {
  // "driver", "device 0", "NVRTC", "nvcc", "cache"
  std::string what;
  bool found = false;
  std::string text;  // what was found, or why it was not and what would help
};

std::vector<Finding> findings();

// The library's GPU or architecture of that name, or the GPU that the driver calls so and that was
// measured (runtime/commands/policies.h); error "unknown-target", which lists them, where
// there is none.
Target target_named(const std::string& name);

// The target to compile for on the device of that number, or nothing: then `why_not` says why
// kernels run on the host.
std::optional<Target> device_target(std::string* why_not = nullptr, int ordinal = 0);

}  // namespace lay::runtime
