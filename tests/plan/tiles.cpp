// The costs of stdlib/policies/sm90.lay against times that were measured (tiles.txt): what the row
// of least cost loses to the fastest of all schedules that were timed, and how well costs rank.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "frontend/sema/library.h"
#include "generated/tests/paths.h"
#include "tests/plan/policy_rows.h"

namespace lay::test {
namespace {

// Tile M and N, blocks of a cluster along M and N, parts of K, consumers in ping-pong.
using Tile = std::array<std::int64_t, 6>;

struct Problem {
  std::int64_t m = 0, n = 0, k = 0;
  std::map<Tile, double> times;  // us
};

Tile tile_of(const std::string& text) {
  static const std::regex form(R"((\d+)x(\d+)\.(\d+)x(\d+)(?:x(\d+))?(p?))");
  std::smatch found;
  REQUIRE(std::regex_match(text, found, form));
  const auto number = [&](std::size_t group) {
    return found[group].matched ? std::stoll(found[group].str()) : 1;
  };
  return {number(1), number(2), number(3), number(4), number(5), found[6].length() > 0 ? 2 : 1};
}

// "968 560 1376 6.30: 64x64.1x1 8.09, 64x64.2x1 8.34"
std::vector<Problem> measured() {
  std::ifstream in(std::string(LAY_SOURCE_DIR) + "/tests/plan/tiles.txt");
  std::vector<Problem> problems;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] < '0' || line[0] > '9') continue;
    Problem problem;
    std::istringstream words(line);
    std::string word, time;
    words >> problem.m >> problem.n >> problem.k >> word;
    while (words >> word >> time) problem.times[tile_of(word)] = std::stod(time);
    problems.push_back(std::move(problem));
  }
  return problems;
}

Tile tile_of(const sema::Policy& row) {
  const auto tile = numbers(row, "tile"), cluster = numbers(row, "cluster"),
             groups = numbers(row, "groups");
  return {tile[0], tile[1], cluster[0], cluster[1], cluster.size() > 2 ? cluster[2] : 1, groups[3]};
}

// A row that fits the problem and was timed on it.
struct Row {
  std::int64_t cost;
  double time;
};

// Empty where a row without a cost takes the problem.
std::vector<Row> rows_for(const std::vector<sema::Policy>& rows, const Problem& problem) {
  const sema::ProblemSize size{problem.m, problem.n, problem.k, 1, 132};
  std::vector<Row> result;
  for (const sema::Policy& row : rows) {
    if (!sema::under(row.when, size).is_always()) continue;
    const auto cost = cost_under(row, size);
    if (!cost) return {};
    const auto time = problem.times.find(tile_of(row));
    if (time != problem.times.end()) result.push_back({cost->value(), time->second});
  }
  return result;
}

double mean(const std::vector<double>& ratios) {
  double sum = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  return std::exp(sum / static_cast<double>(ratios.size()));
}

}  // namespace

TEST_CASE("costs: the row of least cost loses little to the fastest of what was timed") {
  const auto rows =
      sema::library_policies("sm90", {ElementType::bf16, ElementType::bf16, ElementType::f32});
  std::vector<double> losses;
  int ranked = 0, pairs = 0;
  for (const Problem& problem : measured()) {
    const std::vector<Row> timed = rows_for(rows, problem);
    // Where few of the rows were timed, the fastest ones may be among the others.
    if (timed.size() < 12) continue;
    const Row& least = *std::min_element(
        timed.begin(), timed.end(), [](const Row& a, const Row& b) { return a.cost < b.cost; });
    double fastest = least.time;
    for (const auto& [tile, time] : problem.times) fastest = std::min(fastest, time);
    losses.push_back(least.time / fastest);
    // Pairs whose times differ by more than they spread: which is the faster?
    for (const Row& a : timed)
      for (const Row& b : timed) {
        if (a.time * 1.05 >= b.time) continue;
        ++pairs;
        ranked += a.cost < b.cost;
      }
  }
  std::sort(losses.begin(), losses.end());
  const auto at = [&](double share) {
    return losses[static_cast<std::size_t>(share * static_cast<double>(losses.size()))];
  };
  const double tau = 2.0 * ranked / pairs - 1;
  INFO(losses.size() << " problems, mean loss " << mean(losses) << ", median " << at(0.5)
                     << ", 90th percentile " << at(0.9) << ", worst " << losses.back()
                     << "; Kendall's tau " << tau << " of " << pairs << " pairs");
  CHECK(losses.size() >= 20);
  CHECK(mean(losses) <= 1.03);
  CHECK(at(0.5) <= 1.02);
  CHECK(at(0.9) <= 1.08);
  CHECK(tau >= 0.82);
}

}  // namespace lay::test
