// The functions of a bundle's header but `describe`, over those that check, choose and run a kernel
// (source_text.cpp).
#pragma once

#include <cstddef>
#include <string>

#include "frontend/sema/kernel/kernel.h"
#include "runtime/bundle/c_text.h"

namespace lay::runtime {

// `check`, `workspace`, `prepare`, `launch` and `unload` of a kernel that was built for as many
// targets; `name` is the kernel's with its prefix.
std::string interface_text(const std::string& name, std::size_t targets, const sema::Kernel& kernel,
                           const ArgumentNames& names);

}  // namespace lay::runtime
