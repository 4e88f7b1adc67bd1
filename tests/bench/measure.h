// Timing of candidates in one process: on the same buffers, interleaved, by events; medians of
// rounds.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "runtime/gpu/driver.h"

namespace lay::bench {

struct Candidate {
  std::string name;
  std::function<void(int set)> launch;  // on the operands of that set
  std::vector<double> milliseconds;     // a launch, one entry a round

  double median() const {
    std::vector<double> sorted = milliseconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[sorted.size() / 2];
  }
  // (largest - smallest) / median.
  double spread() const {
    const auto [least, most] = std::minmax_element(milliseconds.begin(), milliseconds.end());
    return milliseconds.empty() ? 0 : (*most - *least) / median();
  }
};

struct Protocol {
  int rounds = 7;
  int sets = 3;                    // of operands, used in turn, together larger than the L2 cache
  double round_milliseconds = 30;  // launches are repeated until a round takes about so long
};

// A warm-up round, then the rounds; the candidates take turns within a round, another one first in
// each.
inline void measure(std::vector<Candidate>& candidates, const Protocol& protocol) {
  const runtime::Event begin, end;
  std::vector<int> launches(candidates.size(), 2 * protocol.sets);
  for (int round = -2; round < protocol.rounds; ++round)
    for (std::size_t turn = 0; turn < candidates.size(); ++turn) {
      const std::size_t at = (turn + static_cast<std::size_t>(round + 2)) % candidates.size();
      Candidate& now = candidates[at];
      begin.record();
      for (int i = 0; i < launches[at]; ++i) now.launch(i % protocol.sets);
      end.record();
      end.wait();
      const double each = end.milliseconds_since(begin) / launches[at];
      if (round >= 0) now.milliseconds.push_back(each);
      const int wanted =
          static_cast<int>(protocol.round_milliseconds / std::max(each, 1e-4)) / protocol.sets + 1;
      if (round < 0) launches[at] = std::clamp(wanted, 1, 1000) * protocol.sets;
    }
  runtime::synchronize();
}

}  // namespace lay::bench
