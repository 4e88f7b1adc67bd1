// The costs of stdlib/policies/sm90.lay against times that were measured (tiles.txt): of the
// schedules that were timed on a problem, what the one of least cost loses to the fastest, and how
// well costs rank.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "backend/plan/model/forecast.h"
#include "frontend/sema/library.h"
#include "generated/tests/paths.h"
#include "runtime/bench/calibrate/timed_schedules.h"
#include "runtime/io/file.h"
#include "tests/language/script.h"
#include "tests/plan/judged.h"

namespace lay::test {
namespace {

// The costs of schedules, asked once for each order of the factors.
class Costs {
 public:
  Costs() : script_("use policies.sm90_space\n") { REQUIRE(script_.messages == ""); }

  // Clocks of a launch, in hundredths. As the kernels' names say: whether A and B run along K.
  std::int64_t of(const sema::SpaceRow& schedule, const bench::TimedProblem& problem) {
    const std::string& kernel = problem.kernel;
    const bool batched = kernel.starts_with("batched");
    const auto truth = [&](std::size_t factor) {
      return batched || kernel[factor] == 't' ? "true" : "false";
    };
    std::ostringstream text;
    text << "clocks_of_tile(" << schedule.tile.to_string() << "," << schedule.how << ",product(64,"
         << truth(0) << "," << truth(1) << ",16,0,false,fitted_on_h200))";
    const auto [at, is_new] = known_.try_emplace(text.str());
    if (is_new) {
      const sema::Outcome outcome = script_.evaluator.evaluate_expression("cost", text.str());
      REQUIRE(outcome.value);
      at->second = outcome.value->as<Tuple>()->value();
    }
    return sema::under(at->second, {problem.m, problem.n, problem.k, problem.batches, 132}).value();
  }

 private:
  sema::test::Script script_;
  std::map<std::string, Int> known_;
};

Judged judged(Costs& costs, const std::string& kernel, std::size_t least_timed,
              const std::vector<bench::TimedProblem>& problems) {
  Judged result;
  for (const bench::TimedProblem& problem : problems) {
    if (problem.kernel != kernel || problem.schedules.size() < least_timed) continue;
    std::vector<TimedRow> timed;
    double fastest = std::numeric_limits<double>::infinity();
    for (const bench::TimedSchedule& each : problem.schedules) {
      timed.push_back({costs.of(each.schedule, problem), each.seconds});
      fastest = std::min(fastest, each.seconds);
    }
    std::stable_sort(timed.begin(), timed.end(),
                     [](const TimedRow& a, const TimedRow& b) { return a.cost < b.cost; });
    result.add(timed, fastest);
  }
  result.sort();
  return result;
}

// What a kernel's costs have to reach.
struct Asked {
  const char* kernel;
  std::size_t problems, timed;  // problems on which so many schedules were timed
  double mean, median, tenth, tau;
};

}  // namespace

TEST_CASE("costs: the schedule of least cost loses little to the fastest that was timed") {
  const bench::ProductKernels kernels;
  const auto problems = bench::read_times(
      runtime::read_file(std::string(LAY_SOURCE_DIR) + "/tests/plan/tiles.txt"), kernels);
  Costs costs;
  for (const Asked& asked :
       {Asked{"tt", 80, 12, 1.03, 1.01, 1.11, 0.79}, Asked{"nt", 20, 12, 1.025, 1.01, 1.08, 0.89},
        Asked{"tn", 20, 12, 1.015, 1.01, 1.05, 0.86}, Asked{"nn", 16, 12, 1.055, 1.01, 1.3, 0.86},
        Asked{"tt/few", 25, 6, 1.03, 1.01, 1.06, 0.71},
        Asked{"tt/few_columns", 10, 6, 1.04, 1.035, 1.21, 0.86},
        Asked{"nn/few_columns", 10, 6, 1.01, 1.01, 1.06, 0.8},
        Asked{"tt/space", 66, 4, 1.04, 1.015, 1.12, 0.42},
        Asked{"batched/space", 24, 4, 1.035, 1.015, 1.11, 0.45},
        Asked{"tn/space", 13, 4, 1.08, 1.055, 1.23, 0.56},
        Asked{"nt/space", 15, 4, 1.045, 1.04, 1.13, 0.44},
        Asked{"nn/space", 15, 4, 1.05, 1.01, 1.21, 0.47},
        Asked{"tt/whole", 44, 4, 1.04, 1.03, 1.11, 0.4}}) {
    const Judged found = judged(costs, asked.kernel, asked.timed, problems);
    INFO(asked.kernel << ": " << found.losses.size() << " problems, mean loss " << found.mean_loss()
                      << ", median " << found.at(0.5) << ", 90th percentile " << found.at(0.9)
                      << ", worst " << found.losses.back() << "; Kendall's tau " << found.tau()
                      << " of " << found.pairs << " pairs");
    CHECK(found.losses.size() >= asked.problems);
    CHECK(found.mean_loss() <= asked.mean);
    CHECK(found.at(0.5) <= asked.median);
    CHECK(found.at(0.9) <= asked.tenth);
    CHECK(found.tau() >= asked.tau);
  }
}

// A cost ranks; how long a launch takes it says roughly, at the highest clock.
TEST_CASE("costs: clocks are near the time of the schedule that costs least") {
  const bench::ProductKernels kernels;
  const auto problems = bench::read_times(
      runtime::read_file(std::string(LAY_SOURCE_DIR) + "/tests/plan/tiles.txt"), kernels);
  Costs costs;
  std::vector<double> ratios;
  for (const bench::TimedProblem& problem : problems) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    double time = 0;
    for (const bench::TimedSchedule& each : problem.schedules)
      if (const std::int64_t cost = costs.of(each.schedule, problem); cost < least) {
        least = cost;
        time = each.seconds;
      }
    ratios.push_back(time / plan::seconds_of_cost(least, default_target()));
  }
  std::sort(ratios.begin(), ratios.end());
  const auto near = std::count_if(ratios.begin(), ratios.end(),
                                  [](double ratio) { return 1 / 1.5 < ratio && ratio < 1.5; });
  INFO(near << " of " << ratios.size() << " within 1.5; median " << ratios[ratios.size() / 2]
            << ", least " << ratios.front() << ", most " << ratios.back());
  REQUIRE(ratios.size() > 400);
  CHECK(static_cast<double>(near) > 0.87 * static_cast<double>(ratios.size()));
  CHECK(ratios[ratios.size() / 2] < 1.2);
}

}  // namespace lay::test
