// How fast the machine is that runs the tests, for those that hold a limit of time.
#pragma once

#include <algorithm>
#include <ctime>
#include <map>
#include <string>

namespace lay::test {

// Limits are those of a machine that makes a map of 20,000 strings in this much CPU time.
inline constexpr double usual_milliseconds = 4;

// How many times slower than that this machine is at the moment; at least 1. Takes 30 ms.
inline double slowness() {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const std::clock_t begin = std::clock();
    std::map<std::string, int> counts;
    unsigned drawn = 1;
    for (int k = 0; k < 20000; ++k) {
      drawn = drawn * 1664525u + 1013904223u;
      ++counts["name of number " + std::to_string(drawn >> 16)];
    }
    const double milliseconds = 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    if (!counts.empty()) best = std::min(best, milliseconds);
  }
  return std::max(1.0, best / usual_milliseconds);
}

}  // namespace lay::test
