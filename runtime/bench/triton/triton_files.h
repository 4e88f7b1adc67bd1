// The programs in Python that stand in runtime/bench/triton, embedded.
#pragma once

#include <string_view>

namespace lay::bench {

std::string_view triton_file(
    std::string_view name);  // "candidate.py"; empty where there is none of that name

}  // namespace lay::bench
