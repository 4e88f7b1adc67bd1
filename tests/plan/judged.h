// How well the costs of rows agree with the times that were measured.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace lay::test {

struct TimedRow {
  std::int64_t cost;
  double time;
};

// Over problems: what the row of least cost loses to the fastest schedule that was timed, and of
// the pairs whose times differ by more than they spread, in how many the faster one costs less.
struct Judged {
  std::vector<double> losses;  // in order, once sorted
  std::int64_t ranked = 0, pairs = 0;

  // `rows` by cost; `fastest` of all that was timed, rows or not.
  void add(const std::vector<TimedRow>& rows, double fastest) {
    losses.push_back(rows.front().time / fastest);
    for (const TimedRow& a : rows)
      for (const TimedRow& b : rows) {
        if (a.time * 1.05 >= b.time) continue;
        ++pairs;
        ranked += a.cost < b.cost;
      }
  }
  void sort() { std::sort(losses.begin(), losses.end()); }

  double mean_loss() const {
    double sum = 0;
    for (const double loss : losses) sum += std::log(loss);
    return std::exp(sum / static_cast<double>(losses.size()));
  }
  double at(double share) const {
    return losses.at(static_cast<std::size_t>(share * static_cast<double>(losses.size())));
  }
  // Kendall's.
  double tau() const { return 2.0 * static_cast<double>(ranked) / static_cast<double>(pairs) - 1; }
};

}  // namespace lay::test
