// Times the library's schedules on drawn products, for the fit of its costs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/bench/calibrate/timed_schedules.h"
#include "runtime/gpu/gpu.h"

namespace lay::bench {

// How much is timed, and how long.
struct CalibrationEffort {
  std::uint32_t seed = 1;
  // Of the problems and rows that are drawn; 1 for all.
  double share = 1;
  // Of a problem's largest tensor.
  std::int64_t most_elements = 1 << 25;
  int rounds = 3;
  // How long a schedule is timed in one round.
  double milliseconds = 2;
  // No problem begins after this.
  double seconds = 85;
};

// Draws products and the library's rows to time on them, compiles the rows and times them. The draw
// depends on the seed and the GPU's plans alone. Kernels are launched on operands that together
// exceed L2, one set after another. What cannot be compiled or launched is left out, with a line
// for `say`; so is a time whose rounds differ by more than a fifth.
std::vector<TimedProblem> time_schedules(runtime::Gpu& gpu, const ProductKernels& kernels,
                                         const CalibrationEffort& effort,
                                         const std::function<void(const std::string&)>& say);

}  // namespace lay::bench
