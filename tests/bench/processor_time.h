// Timing on one core by processor time, to which other work on the machine adds little. Shared by
// the benches here.
#pragma once

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>

namespace lay::bench {

// Seconds of one call, the median of five rounds of `calls`.
inline double median_seconds(int calls, const std::function<void(int)>& call) {
  std::array<double, 5> rounds{};
  for (double& seconds : rounds) {
    const std::clock_t begin = std::clock();
    for (int i = 0; i < calls; ++i) call(i);
    seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / calls;
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds[2];
}

}  // namespace lay::bench
