// `lay tune`: autotunes GEMM kernels. It ranks schedules with the cost model, times the best ones
// and saves the fastest for a class of sizes: as a policy, for all GEMMs of these types and operand
// orders on this GPU (frontend/sema/kernel/tuned_rows.h), or beside the script for its kernel alone
// (runtime/commands/tuned.h).
#pragma once

#include <string>
#include <vector>

#include "runtime/bench/script_kernels.h"
#include "runtime/bench/tune/tuner.h"

namespace lay::bench {

// The command line of `lay tune`.
struct TuneOptions {
  std::string file;
  // The kernel to tune; empty for all kernels of the script.
  std::string kernel;
  // One problem each.
  std::vector<SizeArgument> sizes;
  // The directory of policies to write to; empty for the user's, which later plans read.
  std::string folder;
  // Writes FILE.tuned.lay instead of policies.
  bool beside = false;
  TuneEffort effort;
};

// Runs the command and returns an ExitCode. Without a GPU it prints the ranking, times nothing and
// writes nothing. Throws DiagnosticError if a result cannot be written.
int tune_script(const TuneOptions& options);

}  // namespace lay::bench
