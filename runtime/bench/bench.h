// `lay bench`: builds the kernels of a script, checks them against a reference and times them
// beside baselines (cuBLASLt, Triton, PyTorch, a device-to-device copy).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lay::bench {

// The command line of `lay bench`.
struct Options {
  std::string file;
  // The kernel to measure; empty for all kernels of the script.
  std::string kernel;
  // One problem each, by dim. The name "" gives every dim its size; no entry means 4096 everywhere.
  std::vector<std::map<std::string, std::int64_t>> sizes;
  // Scalars by name. One that is not named is 1, or 0 if it is called beta.
  std::map<std::string, double> scalars;
  int rounds = 5;
  // How long each candidate is timed in one round.
  double milliseconds = 100;
  // Single launches a candidate in one round, each between two events.
  int singles = 20;
  // Algorithms that cuBLASLt's heuristic is asked for.
  int algorithms = 12;
  // The time that Python has for Triton's configurations of one problem; 0 leaves Triton out. By
  // default 120, and 0 if variants are named, for then the variants are compared with each other.
  std::optional<double> triton_seconds;
  // The time that Python has to compute one problem in PyTorch, compilation included; 0 leaves
  // PyTorch out. By default 120, and 0 if variants are named.
  std::optional<double> torch_seconds;
  // Adds torch.compile with its mode max-autotune-no-cudagraphs.
  bool torch_autotune = false;
  // Measures every variant that fits the sizes, not only the one that a launch takes.
  bool all_variants = false;
  // Measures these variants; empty for the choice above.
  std::vector<std::string> variants;
  // Leaves out kernels of ours that compute reductions one thread an output element.
  bool skip_scalar = false;
  // Leaves out what a plan for these sizes has and one for any sizes has not.
  bool any_size = false;
  // Launches each candidate once, neither checked nor timed: for a profiler.
  bool once = false;
  // Writes JSON to standard output and the table to standard error.
  bool json = false;
};

// Runs the command and returns an ExitCode: exit_machine without a GPU, exit_program if a result
// is wrong or the sizes do not fit the kernel.
int bench_script(const Options& options);

}  // namespace lay::bench
