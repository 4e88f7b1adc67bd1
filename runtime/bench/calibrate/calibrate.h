// `lay calibrate`: measures a GPU and fits the coefficients of the library's costs to times of its
// schedules there, so that launches choose by what this GPU is like (stdlib/targets/gpu.lay).
#pragma once

#include <string>
#include <vector>

#include "backend/target/target.h"
#include "runtime/bench/calibrate/cost_fit.h"
#include "runtime/bench/calibrate/schedule_times.h"

namespace lay::bench {

// The command line of `lay calibrate`.
struct CalibrateOptions {
  // A file of times to fit to, in place of a GPU; it is for a GPU of the library, `gpu`.
  std::string from, gpu = "h200";
  // The file to write; empty for that of the GPU among the user's, which later commands read.
  std::string output;
  // A file for the times that were measured, as `from` reads them; empty for none.
  std::string times;
  // Measures and prints, and writes nothing to `output`.
  bool dry_run = false;
  // Writes JSON to standard output and the table to standard error.
  bool json = false;
  CalibrationEffort effort;
};

// Runs the command and returns an ExitCode: exit_machine without a GPU, or where it fails.
// Throws DiagnosticError where a file cannot be read or written.
int calibrate(const CalibrateOptions& options);

// What the fit came to, beside the library's coefficients.
struct Calibration {
  sema::Coefficients library;
  CostFit fit;
  // Of the library's coefficients, of those that were fitted, and of two fits to one half of the
  // problems each on the half that it did not see.
  CostQuality before, after, held_out;
  // Held out, the fit's first choice loses no more than the library's; else `fit` has the
  // coefficients that it began with.
  bool is_kept = false;
};

// Fits the coefficients `from` to the times on a GPU of so many SMs. `from` are those of the
// library but for tuples, which the driver tells.
Calibration calibrated(const std::vector<TimedProblem>& problems, const ProductKernels& kernels,
                       int sms, const sema::Coefficients& library, const sema::Coefficients& from);

// Returns the text of a file for the user's GPUs (runtime/commands/policies.h), formatted; it
// begins with the comment, a line.
std::string measured_gpu_text(const MeasuredGpu& gpu, const std::string& comment);

}  // namespace lay::bench
