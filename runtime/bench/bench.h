// `lay bench`: the kernels of a script, built, checked and measured beside cuBLASLt and Triton.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lay::bench {

struct Options {
  std::string file;
  std::string kernel;  // one of several
  std::vector<std::map<std::string, std::int64_t>>
      sizes;  // one problem each; under no name: of every dim; none: 4096
  std::map<std::string, double> scalars;  // 1 where not given, but 0 for one called beta
  int rounds = 5;
  double milliseconds = 100;  // of a contestant, a round
  int singles = 20;           // launches alone, a round
  int algorithms = 12;        // that cuBLASLt is asked for
  // That Python may take for the configurations of a problem; 0: it is not asked. By default 120,
  // and 0 where variants are named: then ours are compared with each other.
  std::optional<double> triton_seconds;
  bool all_variants = false;          // every one that fits, not only the one that a launch takes
  std::vector<std::string> variants;  // by name; none: as above
  bool once = false;  // each side is launched once, neither checked nor timed: for a profiler
  bool json =
      false;  // JSON on standard output and the table on standard error, not the table alone
};

// Returns an ExitCode: exit_machine without a GPU, exit_program where a result is wrong or a size
// does not fit.
int bench_script(const Options& options);

}  // namespace lay::bench
