// The helpers of `lay bench` for the programs in Python that it runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "runtime/compile/child.h"

namespace lay::bench {

// Returns the contents of a file; nothing of one that cannot be read or is larger than the limit.
std::string contents_of(const std::string& path, std::uint64_t limit);

// Returns the last line of a log that is not blank, shortened.
std::string last_line(const std::string& text);

// Returns how a program ended that gave no answer: "/usr/bin/python3 ended with status 3: " and the
// last line of its log.
std::string why_no_answer(const std::string& program, const runtime::ChildEnd& end,
                          std::chrono::milliseconds limit, const std::string& log);

}  // namespace lay::bench
