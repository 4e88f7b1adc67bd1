// A check that what a user waits for is over soon.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "tests/command/process.h"
#include "tests/machine_speed.h"

namespace lay::test {

// How many times slower than usual this machine is for a process: in computing (machine_speed.h),
// or in starting `lay`, which is mostly page faults and usually takes 3 ms. At least 1, at most 3.
inline double process_slowness() {
  static const double start = [] {
    double best = 1e9;
    for (int i = 0; i < 10; ++i) best = std::min(best, run_lay({"--version"}).cpu_seconds * 1e3);
    return best;
  }();
  return std::min(3.0, std::max(slowness(), start / (3 * patience)));
}

// Checks that it takes less than `limit` milliseconds of a machine of usual speed: the best of
// several tries, and of four times as many where those are too slow, since the machine may be busy
// with something else.
inline void check_fast(const std::string& what, double limit, int tries,
                       const std::function<double()>& seconds) {
  const double enough = limit * patience * process_slowness();
  double best = 1e9;
  for (int i = 0; i < tries || (best >= enough && i < 4 * tries); ++i)
    best = std::min(best, seconds() * 1e3);
  WARN(what << ": " << best << " ms");
  CHECK(best < enough);
}

}  // namespace lay::test
