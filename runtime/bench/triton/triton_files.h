// The programs in Python that stand in runtime/bench/triton, embedded.
#pragma once

#include <string_view>

namespace lay::bench {

// Returns the text of "candidate.py"; empty where there is none of that name.
std::string_view triton_file(std::string_view name);

}  // namespace lay::bench
