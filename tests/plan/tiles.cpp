// The costs of stdlib/policies/sm90.lay against times that were measured (tiles.txt): what the row
// of least cost loses to the fastest of all schedules that were timed, and how well costs rank.
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
#include "tests/plan/judged.h"
#include "tests/plan/policy_rows.h"

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

Tile tile_of(const sema::Policy& row) {
  const auto tile = numbers(row, "tile"), cluster = numbers(row, "cluster"),
             groups = numbers(row, "groups"), swap = numbers(row, "swap_ab");
  const bool is_swapped = swap == std::vector<std::int64_t>{1};
  const std::size_t m = is_swapped ? 1 : 0, n = 1 - m;
  return {tile[m],   tile[n],   cluster[m], cluster[n], cluster.size() > 2 ? cluster[2] : 1,
          groups[3], is_swapped};
}

// The rows that fit the problem and were timed on it, by cost. Empty where a row without a cost
// takes the problem, and where the row of least cost was not timed.
std::vector<TimedRow> rows_for(const std::vector<sema::Policy>& rows, const Problem& problem) {
  const sema::ProblemSize size{problem.m, problem.n, problem.k, problem.batches, 132};
  std::vector<TimedRow> result;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const sema::Policy& row : rows) {
    if (!sema::under(row.when, size).is_always()) continue;
    const auto cost = cost_under(row, size);
    if (!cost) return {};
    least = std::min(least, cost->value());
    const auto time = problem.times.find(tile_of(row));
    if (time != problem.times.end()) result.push_back({cost->value(), time->second});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const TimedRow& a, const TimedRow& b) { return a.cost < b.cost; });
  if (!result.empty() && result.front().cost != least) return {};
  return result;
}

// As the kernels' names say: whether A and B run along K, and batches.
std::vector<sema::Policy> rows_of(const std::string& kernel) {
  sema::ProductKind kind{ElementType::bf16, ElementType::bf16, ElementType::f32};
  kind.batched = kernel.starts_with("batched");
  kind.a_along_k = kind.batched || kernel[0] == 't';
  kind.b_along_k = kind.batched || kernel[1] == 't';
  return sema::library_policies("sm90", kind);
}

Judged judged(const std::string& kernel, std::size_t least_timed,
              const std::vector<Problem>& problems) {
  const auto rows = rows_of(kernel);
  Judged result;
  for (const Problem& problem : problems) {
    if (problem.kernel != kernel) continue;
    const std::vector<TimedRow> timed = rows_for(rows, problem);
    // Where few of the rows were timed, the fastest ones may be among the others.
    if (timed.size() < least_timed) continue;
    double fastest = timed.front().time;
    for (const auto& [tile, time] : problem.times) fastest = std::min(fastest, time);
    result.add(timed, fastest);
  }
  result.sort();
  return result;
}

// What a kernel's costs have to reach.
struct Asked {
  const char* kernel;
  std::size_t problems, timed;  // problems of which so many rows were timed
  double mean, median, tenth, tau;
};

}  // namespace

TEST_CASE("costs: the row of least cost loses little to the fastest of what was timed") {
  const std::vector<Problem> problems = measured();
  for (const Asked& asked :
       {Asked{"tt", 14, 12, 1.03, 1.02, 1.08, 0.82}, Asked{"nt", 7, 12, 1.06, 1.05, 1.15, 0.8},
        Asked{"tn", 10, 12, 1.05, 1.04, 1.15, 0.8}, Asked{"nn", 4, 12, 1.06, 1.04, 1.35, 0.8},
        Asked{"tt/few", 12, 6, 1.01, 1.01, 1.06, 0.7},
        Asked{"tt/few_columns", 4, 6, 1.04, 1.03, 1.15, 0.85},
        Asked{"nn/few_columns", 5, 6, 1.07, 1.04, 1.27, 0.85},
        Asked{"tt/space", 55, 1, 1.05, 1.01, 1.14, 0.4},
        Asked{"batched/space", 25, 1, 1.04, 1.01, 1.15, 0.5}}) {
    const Judged found = judged(asked.kernel, asked.timed, problems);
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
