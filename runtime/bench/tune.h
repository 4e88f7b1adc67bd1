// `lay tune`: schedules that the laws allow, ranked by the model, the best of them built, checked and timed; what wins
// is kept, per class of sizes, in a file that the script is planned with from then on (runtime/tuned.h).
#pragma once

#include <string>
#include <vector>

#include "runtime/bench/script_kernels.h"

namespace lay::bench {

struct TuneOptions {
  std::string file;
  std::string kernel;               // one of several
  std::vector<SizeArgument> sizes;  // one problem each
  std::string output;               // the file of schedules; empty: the one that is read back
  int candidates = 8;               // that are timed
  int rounds = 5;
  double milliseconds = 50;  // of a candidate, a round
};

// Returns an ExitCode. Without a GPU the ranking is printed, nothing is timed and nothing is written.
int tune_script(const TuneOptions& options);

}  // namespace lay::bench
