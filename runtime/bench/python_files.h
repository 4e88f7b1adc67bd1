// The programs in Python that stand below runtime/bench, embedded.
#pragma once

#include <string_view>

namespace lay::bench {

std::string_view python_file(
    std::string_view name);  // "triton/candidate.py"; empty where there is none of that name

}  // namespace lay::bench
