// The part of a launcher that all bundles share, embedded from launcher.c.
#pragma once

#include <string_view>

namespace lay::runtime {

std::string_view launcher_file();

}  // namespace lay::runtime
