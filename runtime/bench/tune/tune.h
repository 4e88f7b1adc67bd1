// `lay tune`: schedules that the laws allow, ranked by the model, the best of them built, checked
// and timed. What wins is kept, per class of sizes: as a policy for all products of these types and
// orders on this GPU (frontend/sema/kernel/tuned_rows.h), or beside the script for its kernel alone
// (runtime/commands/tuned.h).
#pragma once

#include <string>
#include <vector>

#include "runtime/bench/script_kernels.h"

namespace lay::bench {

struct TuneOptions {
  std::string file;
  std::string kernel;               // one of several
  std::vector<SizeArgument> sizes;  // one problem each
  std::string folder;   // of policies; empty: the user's, which plans are made with from then on
  bool beside = false;  // in FILE.tuned.lay instead
  int candidates = 8;   // that are timed
  int rounds = 5;
  double milliseconds = 50;  // of a candidate, a round
};

// Returns an ExitCode. Without a GPU the ranking is printed, nothing is timed and nothing is
// written. DiagnosticError where what wins cannot be written.
int tune_script(const TuneOptions& options);

}  // namespace lay::bench
