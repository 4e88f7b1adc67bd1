// The `lay` binary as a user runs it.
#pragma once

#include <string>
#include <vector>

namespace lay::test {

// The factor by which a task may take longer than on a machine of its own, by how this was built.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr double patience = 20;  // a build that checks itself is slower
#elif defined(__OPTIMIZE__)
inline constexpr double patience = 1;
#else
inline constexpr double patience = 10;
#endif

struct Finished {
  int code = -1;   // the exit code; -1 where a signal ended it
  int signal = 0;  // 9 where it took longer than allowed
  std::string out, error;
  double seconds = 0;      // from start to end
  double cpu_seconds = 0;  // of the processor: what it takes on a machine that does nothing else
};

struct Setting {
  std::string input;                     // standard input
  std::string folder = ".";              // working directory
  std::vector<std::string> environment;  // NAME=VALUE, besides what is inherited
  int seconds_allowed = 60;
  long megabytes = 0;  // of address space; 0: unlimited
};

Finished run_lay(const std::vector<std::string>& arguments, const Setting& setting = {});

}  // namespace lay::test
