// The day, for files that say when they were measured.
#pragma once

#include <string>

namespace lay::runtime {

// "2026-11-28", where this machine is.
std::string today();

}  // namespace lay::runtime
