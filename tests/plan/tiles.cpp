// The costs of stdlib/policies/sm90.lay against times that were measured (tiles.txt): of the
// schedules that were timed on a problem, what the one of least cost loses to the fastest, and how
// well costs rank.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <limits>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "frontend/sema/library.h"
#include "generated/tests/paths.h"
#include "tests/language/script.h"
#include "tests/plan/judged.h"

namespace lay::test {
namespace {

// Tile M and N, blocks of a cluster along M and N, parts of K, consumers in ping-pong, whether M is
// the instruction's columns.
using Tile = std::array<std::int64_t, 7>;

struct Problem {
  std::string kernel;  // of tests/bench/hopper.lay
  std::int64_t m = 0, n = 0, k = 0, batches = 0;
  std::map<Tile, double> times;  // us
};

Tile tile_of(const std::string& text) {
  static const std::regex form(R"((\d+)x(\d+)\.(\d+)x(\d+)(?:x(\d+))?([ps]?))");
  std::smatch found;
  REQUIRE(std::regex_match(text, found, form));
  const auto number = [&](std::size_t group) {
    return found[group].matched ? std::stoll(found[group].str()) : 1;
  };
  return {number(1),      number(2), number(3), number(4), number(5), found[6] == "p" ? 2 : 1,
          found[6] == "s"};
}

// Warpgroups that share the tile, as the library has them.
int consumers(const Tile& tile) {
  const auto [m, n, along_m, along_n, parts, in_turn, swapped] = tile;
  if (in_turn == 2) return 1;
  if (m == 192 && swapped == 0) return 64 <= n && n <= 72 && parts == 1 ? 1 : 3;
  return static_cast<int>(std::min<std::int64_t>(2, ((swapped == 0 ? m : n) + 63) / 64));
}

// Widths of 128 bytes along K of its K tiles, as sm90_space.lay has them.
int widths(const Tile& tile) {
  const auto [m, n, along_m, along_n, parts, in_turn, swapped] = tile;
  if (swapped == 0) return n < 96 && m * n <= 8192 ? 2 : 1;
  return m <= 16 && n == 64 ? 4 : m <= 64 && n < 256 ? 2 : 1;
}

// "tt 968 560 1376 1 6.30: 64x64.1x1 8.09, 64x64.2x1 8.34"
std::vector<Problem> measured() {
  std::ifstream in(std::string(LAY_SOURCE_DIR) + "/tests/plan/tiles.txt");
  std::vector<Problem> problems;
  for (std::string line; std::getline(in, line);) {
    Problem problem;
    std::istringstream words(line);
    std::string word, time;
    words >> problem.kernel >> problem.m >> problem.n >> problem.k >> problem.batches >> word;
    if (!words) continue;  // the text in front
    while (words >> word >> time) problem.times[tile_of(word)] = std::stod(time);
    problems.push_back(std::move(problem));
  }
  return problems;
}

// The costs of tiles, asked once for each order of the factors.
class Costs {
 public:
  Costs() : script_("use policies.sm90\n") { REQUIRE(script_.messages == ""); }

  // Clocks of a launch, in hundredths. As the kernels' names say: whether A and B run along K.
  std::int64_t of(const Tile& tile, const Problem& problem) {
    const std::string& kernel = problem.kernel;
    const bool batched = kernel.starts_with("batched");
    const auto truth = [&](std::size_t factor) {
      return batched || kernel[factor] == 't' ? "true" : "false";
    };
    const auto [m, n, along_m, along_n, parts, in_turn, swapped] = tile;
    std::ostringstream text;
    text << "clocks(" << m << "," << n << "," << widths(tile) << ",(" << along_m << "," << along_n;
    if (parts > 1) text << "," << parts;
    text << "),product(64," << truth(0) << "," << truth(1) << ",16,0,false,fitted_on_h200),"
         << "(" << consumers(tile) << ",1,1," << in_turn << "))";
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
              const std::vector<Problem>& problems) {
  Judged result;
  for (const Problem& problem : problems) {
    if (problem.kernel != kernel || problem.times.size() < least_timed) continue;
    std::vector<TimedRow> timed;
    double fastest = std::numeric_limits<double>::infinity();
    for (const auto& [tile, time] : problem.times) {
      timed.push_back({costs.of(tile, problem), time});
      fastest = std::min(fastest, time);
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
  const std::vector<Problem> problems = measured();
  Costs costs;
  for (const Asked& asked :
       {Asked{"tt", 80, 12, 1.035, 1.01, 1.11, 0.79}, Asked{"nt", 20, 12, 1.03, 1.01, 1.11, 0.89},
        Asked{"tn", 20, 12, 1.03, 1.01, 1.07, 0.86}, Asked{"nn", 16, 12, 1.06, 1.01, 1.3, 0.86},
        Asked{"tt/few", 25, 6, 1.04, 1.01, 1.08, 0.71},
        Asked{"tt/few_columns", 10, 6, 1.04, 1.03, 1.21, 0.86},
        Asked{"nn/few_columns", 10, 6, 1.04, 1.03, 1.14, 0.8},
        Asked{"tt/space", 66, 4, 1.04, 1.02, 1.12, 0.42},
        Asked{"batched/space", 24, 4, 1.045, 1.03, 1.11, 0.45},
        Asked{"tn/space", 13, 4, 1.08, 1.06, 1.23, 0.56},
        Asked{"nt/space", 15, 4, 1.05, 1.04, 1.13, 0.44},
        Asked{"nn/space", 15, 4, 1.07, 1.04, 1.21, 0.47}}) {
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

}  // namespace lay::test
